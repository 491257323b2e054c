// Package agenttest helps to test what is built on package agent: a scripted
// model, a fake person who remembers what they said, and conformance suites for
// the interfaces of package agent.
package agenttest
