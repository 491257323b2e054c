package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"assent/agent/model/openai"

	"github.com/spf13/cobra"
)

const modelsHelp = `List the names of the models that the server has, one a line.

If no server is set up, those that answer on this machine are named instead, on
standard error. Exit code 5 if there is no list; some servers have none.`

func modelsCommand(std streams, getenv func(string) string, global *globalFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "models", Short: "List the models of the model server", Long: modelsHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(*global, getenv)
			if err != nil {
				return usage(err)
			}
			cfg.printWarnings(std.err)
			ctx, stop := signal.NotifyContext(orBackground(cmd.Context()), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return listModels(ctx, std.out, cfg)
		},
	}
	global.registerServer(cmd.Flags())
	return cmd
}

func listModels(ctx context.Context, out io.Writer, cfg config) error {
	switch cfg.Provider {
	case "demo":
		found := openai.FindLocal(ctx)
		if ctx.Err() != nil {
			return &exitError{exitCancelled, nil}
		}
		return &exitError{exitModel, errors.New(strings.Join(offers(found), "\nassent: "))} // no list: stdout is for names
	case "replay":
		return usage(errors.New("the provider replay reads its replies from a file and has no models; name another with --provider"))
	}
	options := cfg.modelOptions()
	options.Model = orDefault(options.Model, "any") // to check the rest
	if _, err := openai.New(options); err != nil {
		return usage(err)
	}
	names, err := openai.Models(ctx, options)
	if ctx.Err() != nil {
		return &exitError{exitCancelled, nil}
	}
	if err != nil {
		return &exitError{exitModel, err}
	}
	hide := openai.Hide(cfg.secrets())
	for _, name := range names {
		if _, err := fmt.Fprintln(out, inline(hide(name))); err != nil {
			return &exitError{exitFault, fmt.Errorf("the list could not be written: %w", err)}
		}
	}
	return nil
}

// offers says what there is to choose where no server is set up.
func offers(found []openai.Local) []string {
	if len(found) == 0 {
		return []string{"No model server is set up and none answers on this machine: start one such as Ollama and use --provider ollama --model NAME, " +
			"or set a key such as OPENAI_API_KEY and use --provider openai --model NAME; the README has more"}
	}
	var lines []string
	for _, local := range found {
		p := local.Provider
		has := fmt.Sprintf("%d models", len(local.Models))
		switch {
		case len(local.Models) == 1:
			has = "1 model"
		case len(local.Models) == 0:
			has = "no list of models without a key"
			if p.KeyVar == "" {
				has = "no model yet"
			}
		}
		lines = append(lines, fmt.Sprintf("%s answers at %s with %s: use --provider %s --model NAME", p.Name, p.BaseURL, has, p.Name))
	}
	return lines
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
