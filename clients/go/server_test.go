package holdfast

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// realServer is a Holdfast with a database of its own, for all tests of a run: test/vectors/README.md describes it.
type realServer struct {
	URL        string `json:"url"`
	FaultyURL  string `json:"faultyUrl"`
	ControlURL string `json:"controlUrl"`
	OwnerToken string `json:"ownerToken"`

	end func()
}

var theServer struct {
	once   sync.Once
	server *realServer
	err    error
}

func TestMain(m *testing.M) {
	if actAsPausedHolder() {
		return
	}
	code := m.Run()
	if theServer.server != nil {
		theServer.server.end()
	}
	os.Exit(code)
}

// startServer starts the server at its first call. Where the rest of the repository is not there, the test is skipped;
// with HOLDFAST_TEST_SERVER=required it fails instead.
func startServer(t *testing.T) *realServer {
	t.Helper()
	theServer.once.Do(func() { theServer.server, theServer.err = launchServer() })
	if theServer.err != nil {
		if os.Getenv("HOLDFAST_TEST_SERVER") == "required" {
			t.Fatal(theServer.err)
		}
		t.Skipf("NOT TESTED, there is no server: %v", theServer.err)
	}
	return theServer.server
}

func launchServer() (*realServer, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	command := exec.Command("node", "--import", "tsx", "test/vectors/serve.ts")
	command.Dir = root
	var said bytes.Buffer
	command.Stderr = &said
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	server := &realServer{end: func() {
		_ = stdin.Close()
		_ = command.Wait()
	}}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, server)
	}
	if err != nil {
		server.end()
		return nil, fmt.Errorf("the server did not start: %w: %s", err, said.String())
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return server, nil
}

// act tells the server, or the proxies before it, to do something.
func (s *realServer) act(t *testing.T, act string, fields map[string]any) {
	t.Helper()
	body, err := json.Marshal(merged(fields, map[string]any{"act": act}))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(s.ControlURL, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusNoContent {
		text, _ := io.ReadAll(answer.Body)
		t.Fatalf("%s: %s", act, text)
	}
}

func merged(maps ...map[string]any) map[string]any {
	all := map[string]any{}
	for _, m := range maps {
		for key, value := range m {
			all[key] = value
		}
	}
	return all
}

// project makes a project of its own for a test.
func (s *realServer) project(t *testing.T, settings *holdfastv1.ProjectSettings) *board {
	t.Helper()
	owner := s.client(t, s.URL, s.OwnerToken)
	made, err := owner.Projects.CreateProject(t.Context(), &holdfastv1.CreateProjectRequest{
		Project: "go-" + owner.ExecutionID(), Settings: settings,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &board{server: s, owner: owner, project: made.GetProject().GetId()}
}

func (s *realServer) client(t *testing.T, url, token string, options ...Option) *Client {
	t.Helper()
	client, err := New(url, token, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// board is a project and those who work on it.
type board struct {
	server  *realServer
	owner   *Client
	project string
}

func (b *board) token(t *testing.T, principal string, kind holdfastv1.PrincipalKind, role holdfastv1.Role) string {
	t.Helper()
	made, err := b.owner.Projects.CreateToken(t.Context(), &holdfastv1.CreateTokenRequest{
		Project: b.project, Principal: principal, Kind: kind, Role: role,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.GetToken()
}

// agentToken makes the token of an agent.
func (b *board) agentToken(t *testing.T, principal string) string {
	t.Helper()
	return b.token(t, principal, holdfastv1.PrincipalKind_PRINCIPAL_KIND_AGENT, holdfastv1.Role_ROLE_AGENT)
}

// agent is a client of an agent, which connects to url.
func (b *board) agent(t *testing.T, principal, url string, options ...Option) *Client {
	t.Helper()
	return b.server.client(t, url, b.agentToken(t, principal), options...)
}

func (b *board) task(t *testing.T, title string) string {
	t.Helper()
	made, err := b.owner.Tasks.CreateTask(t.Context(), &holdfastv1.CreateTaskRequest{
		Project: b.project, Title: title,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.GetTask().GetId()
}

func (b *board) read(t *testing.T, taskID string) *holdfastv1.GetTaskResponse {
	t.Helper()
	read, err := b.owner.Tasks.GetTask(t.Context(), &holdfastv1.GetTaskRequest{Project: b.project, TaskId: taskID})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func (b *board) events(t *testing.T, taskID string, kinds ...holdfastv1.EventKind) []*holdfastv1.Event {
	t.Helper()
	listed, err := b.owner.History.ListHistory(t.Context(), &holdfastv1.ListHistoryRequest{
		Project: b.project, TaskId: taskID, Kinds: kinds,
	})
	if err != nil {
		t.Fatal(err)
	}
	return listed.GetEvents()
}

func enforced() *holdfastv1.ProjectSettings {
	return &holdfastv1.ProjectSettings{Enforcement: holdfastv1.Enforcement_ENFORCEMENT_ENFORCE}
}

// waitFor waits until something happened, or fails.
func waitFor[T any](t *testing.T, what string, happened <-chan T) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	defer cancel()
	select {
	case one := <-happened:
		return one
	case <-ctx.Done():
		t.Fatalf("%s: did not happen within %s", what, testPatience)
		panic("unreachable")
	}
}
