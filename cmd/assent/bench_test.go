package main

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"testing"
)

// From spawn to the answer to initialize, of a binary as it is given to people.
func BenchmarkStart(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "assent")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	home := b.TempDir()
	for b.Loop() {
		cmd := exec.Command(binary, "--stdio")
		cmd.Env = []string{"HOME=" + home}
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`+"\n"); err != nil {
			b.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
		b.StartTimer()
	}
}
