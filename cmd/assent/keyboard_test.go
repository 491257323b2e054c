package main

import (
	"fmt"
	"slices"
	"strings"
)

// keyboard is how a person uses an editor.
type keyboard struct {
	variable string            // names the program
	config   map[string]string // files below the configuration directory: a heading of editors/README.md, or the text after a line end
	args     []string          // before the file

	above  func(line string) []string            // writes a line above the first, where the cursor stays
	normal func(screen string) bool              // says whether keys are commands after that, if ever they are not
	act    []string                              // asks for code actions
	clear  []string                              // takes what is said off the screen where there are none
	take   []string                              // takes the one that is offered
	answer func(titles []string, i int) []string // answers a question
	write  func(path string) []string            // writes the buffer into another file, as it is
}

func pressed(keys ...string) []string { return keys }

// byNumber answers with the number of a title.
func byNumber(_ []string, i int) []string { return pressed(fmt.Sprint(i+1), "Enter") }

func notInserting(screen string) bool { return !strings.Contains(screen, "-- INSERT --") }

var keyboards = map[string]keyboard{
	"neovim": {
		variable: "ASSENT_NVIM", config: map[string]string{"nvim/init.lua": "Neovim 0.10 without a plugin"}, args: pressed("-i", "NONE", "-n"),
		above: func(line string) []string { return pressed("g", "g", "O", "="+line, "Escape") },
		act:   pressed(":", "=lua vim.lsp.buf.code_action()", "Enter"), take: pressed("1", "Enter"), answer: byNumber,
		normal: notInserting, clear: pressed("Escape"),
		write: func(path string) []string {
			return pressed(":", "=call writefile(getline(1, '$'), '"+path+"')", "Enter")
		},
	},
	"helix": helix("ASSENT_HELIX"),
	"emacs": {
		variable: "ASSENT_EMACS", config: map[string]string{"emacs/init.el": "Emacs without a plugin"}, args: pressed("-nw"),
		above: func(line string) []string { return pressed("M-<", "="+line, "Enter", "C-p") },
		act:   pressed("M-x", "=eglot-code-actions", "Enter"), take: pressed("Enter"), // C-g would also discard what is typed after it
		// The first title stands there already. A blank would complete, so a word is enough.
		answer: func(titles []string, i int) []string {
			word, _, _ := strings.Cut(titles[i], " ")
			return pressed("C-a", "C-k", "="+word, "Enter")
		},
		write: func(path string) []string {
			return pressed("M-:", `=(write-region (point-min) (point-max) "`+path+`" nil 1)`, "Enter")
		},
	},
}

func helix(variable string) keyboard {
	return keyboard{
		variable: variable, config: map[string]string{"helix/languages.toml": "Helix 25.07 without a plugin"},
		above: func(line string) []string { return pressed("g", "g", "O", "="+line, "Escape") },
		// Escape and Space at once would be Alt-Space.
		normal: func(screen string) bool { return strings.Contains(screen, "\n NOR ") },
		act:    pressed("Space", "a"), take: pressed("Enter"),
		answer: func(_ []string, i int) []string { return append(slices.Repeat(pressed("Down"), i), "Enter") },
		write:  func(path string) []string { return pressed("%", ":", "=pipe-to cat > "+path, "Enter") },
	}
}

// vimWithALE is a client that never answers a question.
var vimWithALE = keyboard{
	variable: "ASSENT_VIM", config: map[string]string{"vim/vimrc": `
set nocompatible noswapfile viminfo= runtimepath^=$ALE
filetype plugin on
let g:ale_linters = {'text': ['assent']}
let g:ale_lsp_show_message_severity = 'information'
runtime plugin/ale.vim
call ale#linter#Define('text', {'name': 'assent', 'lsp': 'stdio', 'executable': 'assent', 'command': '%e --stdio', 'project_root': {buffer -> expand('#' . buffer . ':p:h')}})
`},
	above: keyboards["neovim"].above, act: pressed(":", "=ALECodeAction", "Enter"), take: pressed("1", "Enter"), write: keyboards["neovim"].write,
	normal: notInserting, clear: pressed("Escape"),
}
