// Command assent is a coding agent whose changes land only after a person's yes.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"assent/agent"
	"assent/rpc/lsp"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(execute(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.Getenv))
}

// streams are the three of the process.
type streams struct {
	in       *os.File
	out, err *os.File
}

// Exit codes, see DESIGN §6 and the README.
const (
	exitComplete  = 0
	exitFault     = 1
	exitUsage     = 2
	exitDenied    = 3
	exitLimit     = 4
	exitModel     = 5
	exitCancelled = 130
)

// exitError ends the process with a code. With a nil err, all is said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's: wrong words, settings or folders.
func usage(err error) error { return &exitError{exitUsage, err} }

// execute runs one command line and returns its exit code.
func execute(args []string, std streams, getenv func(string) string) int {
	cmd := rootCommand(std, getenv)
	cmd.SetArgs(args)
	err := cmd.Execute()
	if err == nil {
		return exitComplete
	}
	code := exitUsage // what cobra itself finds: unknown commands and flags
	if exit, ok := errors.AsType[*exitError](err); ok {
		code = exit.code
		err = exit.err
	}
	if err != nil {
		fmt.Fprintf(std.err, "assent: %s\n", agent.Printable(err.Error()))
	}
	return code
}

func rootCommand(std streams, getenv func(string) string) *cobra.Command {
	flags := &globalFlags{}
	var daemon daemonFlags
	root := &cobra.Command{
		Use:           "assent",
		Short:         "A coding agent for editors: your files change only with your assent",
		Long:          rootHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !daemon.stdio {
				return cmd.Help()
			}
			return runDaemon(std, flags.dir, daemon, func(editor lsp.InitializationOptions) (*lsp.Engine, error) {
				return openEngine(*flags, editor, getenv)
			})
		},
	}
	daemon.register(root.Flags())
	flags.register(root.Flags())
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	pf := root.PersistentFlags()
	pf.StringVar(&flags.configFile, "config", "", "configuration file (default: assent/config.toml in your configuration folder)")
	pf.StringVarP(&flags.dir, "dir", "C", ".", "workspace folder")
	pf.StringVar(&flags.overrides.JournalDir, "journal-dir", "", "where sessions are written (default: assent/sessions in your state folder)")
	root.AddCommand(runCommand(std, getenv, flags), logCommand(std, getenv, flags),
		modelsCommand(std, getenv, flags), doctorCommand(std, getenv, flags), versionCommand(std.out))
	return root
}

const rootHelp = `A coding agent for editors: your files change only with your assent.

An editor starts assent --stdio and speaks the Language Server Protocol with it; a
script does the same with one JSON object a line. In a terminal, use assent run.`

func versionCommand(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(out, "assent", version())
			return err
		},
	}
}
