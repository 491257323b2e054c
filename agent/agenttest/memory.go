package agenttest

import (
	"sync"

	"assent/agent"
)

// Memory is an agent.Store that keeps records in memory.
type Memory struct {
	mu      sync.Mutex
	records []agent.Record

	// Fail, if set, is asked before each append; its error fails the append.
	Fail func(r agent.Record) error
}

// Append keeps a record.
func (m *Memory) Append(r agent.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Fail != nil {
		if err := m.Fail(r); err != nil {
			return err
		}
	}
	m.records = append(m.records, r)
	return nil
}

// Records are the records so far.
func (m *Memory) Records() []agent.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]agent.Record(nil), m.records...)
}
