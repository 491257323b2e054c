package rpc

import (
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"
)

// Codes of JSON-RPC, and those of the Language Server Protocol that every
// dialect needs.
const (
	CodeParse          = jsonrpc2.CodeParseError     // -32700
	CodeInvalidRequest = jsonrpc2.CodeInvalidRequest // -32600
	CodeMethodNotFound = jsonrpc2.CodeMethodNotFound // -32601
	CodeInvalidParams  = jsonrpc2.CodeInvalidParams  // -32602
	CodeInternal       = jsonrpc2.CodeInternalError  // -32603
	CodeCancelled      = -32800
)

// Error is an error as it is on the wire.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// Errorf makes an [Error] with a sentence for the person.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

var (
	// ErrClosed says that the connection ended before the other side answered.
	ErrClosed = errors.New("the connection ended before an answer came")
	// ErrBroken says that the other side does not read any more, or is gone.
	ErrBroken = errors.New("the other side of the connection is gone")
	// ErrCancelled is the cause of a context whose request was cancelled by a
	// $/cancelRequest.
	ErrCancelled = errors.New("the request was cancelled")
)
