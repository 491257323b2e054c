package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"assent/agent"
)

const (
	listTime  = 15 * time.Second       // for a list of models, if whoever asks sets no limit
	probeTime = 500 * time.Millisecond // for a server on this machine
	maxList   = 16 << 20
)

// Models lists the names of the models that a server has, sorted. Options.Model is not
// needed. Some servers and most proxies that people write have no such list: the
// error is then an [*agent.ModelError] like those of a request. Without a deadline the
// server has 15 s, or Options.Idle if that is longer.
func Models(ctx context.Context, o Options) ([]string, error) {
	m, err := newModel(o)
	if err != nil {
		return nil, err
	}
	asking, limit := ctx, max(listTime, o.Idle)
	if _, limited := ctx.Deadline(); !limited { // by who asks
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeoutCause(ctx, limit, errSilence)
		defer cancel()
	}
	res, body, err := m.list(asking)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case context.Cause(asking) == errSilence:
		return nil, m.server.silent(false, limit/2)
	case err != nil:
		return nil, m.server.transportError(err)
	}
	names, err := modelNames(body)
	if err != nil {
		return nil, m.server.notSSE(res, "answers with something that is no list of models")
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (m *Model) list(ctx context.Context) (*http.Response, []byte, error) {
	res, err := m.client.get(ctx, "models", m.check(m.form, nil))
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxList))
	return res, body, err
}

// modelNames reads {"data":[{"id":…}]}, {"models":[{"name":…}]}, or such a list alone.
func modelNames(body []byte) ([]string, error) {
	type entry struct {
		ID    text `json:"id"`
		Name  text `json:"name"`
		Model text `json:"model"`
	}
	var list []entry
	if json.Unmarshal(body, &list) != nil {
		var outer struct {
			Data   []entry `json:"data"`
			Models []entry `json:"models"`
		}
		if err := json.Unmarshal(body, &outer); err != nil {
			return nil, err
		}
		if list = outer.Data; list == nil {
			list = outer.Models
		}
		if list == nil {
			return nil, errors.New("no list")
		}
	}
	var names []string
	for _, e := range list {
		for _, name := range []text{e.ID, e.Model, e.Name} {
			if name != "" {
				names = append(names, strings.TrimPrefix(string(name), "models/")) // Gemini's
				break
			}
		}
	}
	return names, nil
}

// Local is a model server that runs on this machine.
type Local struct {
	Provider Provider
	Models   []string
}

// FindLocal asks the ports on which local servers usually are, all at once.
func FindLocal(ctx context.Context) []Local {
	var found []Local
	var mu sync.Mutex
	var wait sync.WaitGroup
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	for _, p := range providers {
		if !p.Local {
			continue
		}
		wait.Go(func() {
			names, err := Models(ctx, Options{Provider: p.Name})
			if failed, ok := errors.AsType[*agent.ModelError](err); err != nil && (!ok || failed.Kind != agent.ErrorAuth) {
				return // somebody else, or nobody
			}
			mu.Lock()
			defer mu.Unlock()
			found = append(found, Local{p, names})
		})
	}
	wait.Wait()
	slices.SortFunc(found, func(a, b Local) int { return strings.Compare(a.Provider.Name, b.Provider.Name) })
	return found
}
