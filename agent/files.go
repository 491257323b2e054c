package agent

import (
	"context"
	"errors"
	"iter"
)

// Files is the workspace as a tool sees it: the unsaved buffer before the disk.
// Paths are relative to the first workspace folder, or absolute. Names in errors
// are those that the caller used.
type Files interface {
	// Stat resolves path. A path at which nothing is gives an Info with Exists
	// false and no error, as long as a file could be made there, and so does an
	// outside path that can't be followed: what is there is not told unasked.
	Stat(ctx context.Context, path string) (Info, error)

	// Read returns the text of a file. A file outside the workspace, or one
	// that holds secrets, is read only with an approval that covers its
	// [OutsideRead] or [SecretRead]; otherwise the error is [ErrNotApproved].
	Read(ctx context.Context, ok Approval, path string) (File, error)

	// List walks the files and directories below dir, in lexical order, dir
	// itself left out. Ignored files and .git are skipped, symbolic links are
	// not followed. An error that concerns one entry does not end the walk.
	List(ctx context.Context, dir string) iter.Seq2[Info, error]
}

// Editor is the person's side: their files, their answers, their buffers. Each
// dialect implements it. A nil Editor in a [Config] refuses everything.
type Editor interface {
	Files

	// Review puts a proposal before the person and waits for the answer, without
	// a time limit; it returns soon after ctx ends, and an answer that comes
	// later does nothing. When the texts move meanwhile it calls revise with what
	// the proposal is for them, see [Proposal.Revision]; the decision is for the
	// newest revision for which that gave no error. [ErrInterrupted] means that the
	// connection was lost: nothing is decided. Any other error counts as a refusal of
	// everything.
	Review(ctx context.Context, p Proposal, revise func(Proposal) error) (Decision, error)

	// Apply lands an edit and says what is there now, verified. It refuses an
	// edit that ok does not cover. If the file changed since the edit was
	// planned, hunks whose surroundings did not change are moved and land, the
	// others are reported as conflicts; texts are never changed. A result with
	// Status [LandFailed] changed nothing and says why in Note; an error means
	// that what is there now is unknown, but for [ErrNotApproved].
	Apply(ctx context.Context, ok Approval, e Edit) (Landing, error)
}

var (
	// ErrInterrupted says that the way to the person was lost before an answer.
	ErrInterrupted = errors.New("the connection to the person was lost before an answer")
	// ErrNotApproved says that a read or an edit lacks a person's yes.
	ErrNotApproved = errors.New("not approved by the person")
)

// Info is what is known of a path without reading it.
type Info struct {
	Path   string // absolute, every symbolic link resolved
	Name   string // for people and models: relative to the first folder with slashes, else Path
	Exists bool
	Dir    bool
	Size   int64 // bytes on disk

	Outside   bool // not in any workspace folder
	Secret    bool // holds keys or credentials: reading asks, each time
	Protected bool // can change what runs on this machine: editing always asks
}

// File is a text file. Text has no byte-order mark and its own line ends; bytes
// that are not text in the file's encoding are kept as they are.
type File struct {
	Info
	Text   string
	Hash   Hash // of Text
	Source Source
}

// Source says where a text was read or landed.
type Source string

const (
	SourceDisk   Source = "disk"
	SourceBuffer Source = "buffer" // in the editor, perhaps unsaved
)

// Landing says what an applied edit left.
type Landing struct {
	Status LandStatus
	Where  Source
	Before Hash   // of the text that the edit met; zero: no file
	After  Hash   // of the text that is there now; zero: no file
	Text   string // that After is the hash of, "" where it is not told; it is not journaled

	Landed    []string // IDs of the hunks that are in the text now
	Conflicts []string // IDs of the hunks that met changed text and did not land
	LeftOut   []string // IDs of the hunks that the person left out where the editor asked once more
	Foreign   string   // what a person or a formatter changed besides, in words
	Note      string   // why it failed, or what else to know

	Problems Problems // what the editor's tools say since, as far as it was asked
}

// LandStatus is the outcome of an edit. The zero value is a failure.
type LandStatus int

const (
	LandFailed      LandStatus = iota // nothing was changed
	LandComplete                      // every approved hunk is in the text
	LandPartial                       // some are
	LandUnconfirmed                   // sent, but the editor did not show the result
)

var landNames = [...]string{"failed", "landed", "partial", "unconfirmed"}

func (s LandStatus) String() string {
	if s < 0 || int(s) >= len(landNames) {
		return "unknown"
	}
	return landNames[s]
}
