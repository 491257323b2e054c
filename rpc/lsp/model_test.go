package lsp_test

import (
	"bytes"

	"assent/agent"
	"assent/agent/model/demo"
	"assent/agent/model/replay"
)

func testModel(replies []byte) (agent.Model, error) {
	if len(replies) == 0 {
		return demo.New(), nil
	}
	return replay.Read(bytes.NewReader(replies), "replies.jsonl")
}
