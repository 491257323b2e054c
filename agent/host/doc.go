// Package host keeps the sessions of a process: it opens a workspace, begins or
// takes up a journal, and makes an [agent.Session] of them. Every dialect, and
// the command line, starts its sessions here; each brings only its own
// [agent.Editor].
package host
