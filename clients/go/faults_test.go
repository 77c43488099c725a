package holdfast

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// pausedHolder is what the child process of TestAProcessThatWasPaused is told, as JSON in its environment.
type pausedHolder struct{ URL, Token, TaskID string }

// pausedReport is what it says when it goes on.
type pausedReport struct {
	// The kind of the LeaseLost that the write through the lease failed with.
	Write string
	// The verdict on a write that the child sent in spite of it.
	Verdict string
	// The cause of the end of the work's context.
	Cause string
}

const pausedHolderVariable = "HOLDFAST_TEST_PAUSED_HOLDER"

// actAsPausedHolder makes this process the child, if it is meant to be: it holds a lease until it reads a line, then
// writes, and reports.
func actAsPausedHolder() bool {
	var told pausedHolder
	text, is := os.LookupEnv(pausedHolderVariable)
	if !is {
		return false
	}
	must(json.Unmarshal([]byte(text), &told))
	client, err := New(told.URL, told.Token)
	must(err)
	ctx := context.Background()
	var report pausedReport
	err = client.WithLease(ctx, told.TaskID, func(work context.Context, lease *Lease) error {
		fmt.Println("holding")
		_, err := bufio.NewReader(os.Stdin).ReadString('\n')
		must(err)
		var lost *LeaseLost
		if _, err := lease.AddNote(ctx, "late"); errors.As(err, &lost) {
			report.Write = string(lost.Kind)
		}
		if cause := (*LeaseLost)(nil); errors.As(context.Cause(work), &cause) {
			report.Cause = string(cause.Kind)
		}
		_, err = client.Tasks.AddNote(ctx, &holdfastv1.AddNoteRequest{
			TaskId: told.TaskID, Text: "late", Proof: lease.Proof(), ExecutionId: client.ExecutionID(),
		})
		var rejected *WriteRejected
		if errors.As(err, &rejected) {
			report.Verdict = nameOf(rejected.Code, "WRITE_CODE_")
		}
		return nil
	}, WithTTL(2*time.Second))
	must(err)
	must(json.NewEncoder(os.Stdout).Encode(report))
	return true
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func TestAProcessThatWasPausedPastItsDeadlineWritesNothing(t *testing.T) {
	server := startServer(t)
	board := server.project(t, enforced())
	taskID := board.task(t, "task")
	told, err := json.Marshal(pausedHolder{URL: server.URL, Token: board.agentToken(t, "ada"), TaskID: taskID})
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), pausedHolderVariable+"="+string(told))
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || lines.Text() != "holding" {
		t.Fatalf("it said %q", lines.Text())
	}
	signal(t, child, syscall.SIGSTOP)
	board.waitForEvent(t, taskID, holdfastv1.EventKind_EVENT_KIND_LEASE_EXPIRED)
	// It is there to be read before anything else happens.
	if _, err := stdin.Write([]byte("go on\n")); err != nil {
		t.Fatal(err)
	}
	signal(t, child, syscall.SIGCONT)

	var report pausedReport
	if !lines.Scan() {
		t.Fatal("it said nothing")
	}
	if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if expected := (pausedReport{Write: "unconfirmed", Verdict: "LOCK_EXPIRED", Cause: "unconfirmed"}); report != expected {
		t.Errorf("it says %+v", report)
	}
	if notes := board.read(t, taskID).GetNotes(); len(notes) != 0 {
		t.Errorf("it wrote %v", notes)
	}
	// The one that the child sent by itself; the write through the lease was never sent.
	rejected := board.events(t, taskID, holdfastv1.EventKind_EVENT_KIND_WRITE_REJECTED)
	if len(rejected) != 1 || rejected[0].GetRepeats() != 0 {
		t.Errorf("rejected %v", rejected)
	}
}

func signal(t *testing.T, child *exec.Cmd, signal syscall.Signal) {
	t.Helper()
	if err := child.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// waitForEvent watches until an event of a kind happens to a task.
func (b *board) waitForEvent(t *testing.T, taskID string, kind holdfastv1.EventKind) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	defer cancel()
	options := WatchOptions{Project: b.project, TaskIDs: []string{taskID}}
	for news, err := range b.owner.Watch(ctx, options) {
		if err != nil {
			t.Fatal(err)
		}
		if event, is := news.(Event); is && event.GetKind() == kind {
			return
		}
	}
	t.Fatalf("no %v", kind)
}

func TestAWatchNoticesAHalfOpenConnection(t *testing.T) {
	server := startServer(t)
	board := server.project(t, nil)
	watcher := board.agent(t, "ada", server.FaultyURL)
	defer server.act(t, "heal", nil)
	ctx, stop := context.WithTimeout(t.Context(), 2*testPatience)
	defer stop()
	told := make(chan News, 100)
	waiting := make(chan Connection, 100)
	go func() {
		defer close(told)
		options := WatchOptions{OnConnection: func(connection Connection) {
			if connection.State == Waiting {
				waiting <- connection
			}
		}}
		for news, err := range watcher.Watch(ctx, options) {
			if err != nil {
				t.Error(err)
			}
			told <- news
		}
	}()
	if _, is := waitFor(t, "the snapshot", told).(Snapshot); !is {
		t.Fatal("something came before the snapshot")
	}
	server.act(t, "silence", nil)
	taskID := board.task(t, "while it is silent")
	// By unanswered pings, long before the silence of three checkpoints.
	if lost := waitFor(t, "the end of the connection", waiting); lost.Err == nil {
		t.Errorf("lost without a reason: %+v", lost)
	}
	server.act(t, "heal", nil)
	for news := range told {
		if event, is := news.(Event); is {
			if event.GetTaskId() != taskID || event.GetKind() != holdfastv1.EventKind_EVENT_KIND_TASK_CREATED {
				t.Errorf("told %v", event)
			}
			return
		}
	}
	t.Error("missed the event")
}

func TestAThousandLeasesAtOnceLeaveNothing(t *testing.T) {
	const many = 1000
	server := startServer(t)
	board := server.project(t, enforced())
	imports := &holdfastv1.ImportTasksRequest{Project: board.project}
	for i := range many {
		imports.Tasks = append(imports.Tasks, &holdfastv1.ImportedTask{
			ExternalKey: fmt.Sprint("task-", i), Title: fmt.Sprint("task ", i),
		})
	}
	imported, err := board.owner.Tasks.ImportTasks(t.Context(), imports)
	if err != nil {
		t.Fatal(err)
	}
	agent := board.agent(t, "ada", server.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	// Each waits for all others to hold theirs, so that all are held at once.
	var held, done sync.WaitGroup
	held.Add(many)
	failures := make(chan error, many)
	for _, result := range imported.GetResults() {
		done.Go(func() {
			var once sync.Once
			defer once.Do(held.Done)
			failures <- agent.WithLease(ctx, result.GetTaskId(), func(ctx context.Context, lease *Lease) error {
				once.Do(held.Done)
				held.Wait()
				_, err := lease.Complete(ctx, "done")
				return err
			}, WithTTL(time.Minute))
		})
	}
	done.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Fatal(err)
		}
	}
	agent.Close()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left := goroutinesIn("holdfast.(*renewal)", "holdfast.(*Client)", "holdfast.(*Lease)")
		if left == "" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left:\n%s", left)
		}
	}
	listed, err := board.owner.Leases.ListLeases(t.Context(), &holdfastv1.ListLeasesRequest{Project: board.project})
	if err != nil || len(listed.GetLeases()) != 0 {
		t.Errorf("%v, still leased: %v", err, listed.GetLeases())
	}
}

// goroutinesIn are the stacks with a frame of one of these.
func goroutinesIn(frames ...string) string {
	var all strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&all, 2)
	var found []string
	for _, stack := range strings.Split(all.String(), "\n\n") {
		for _, frame := range frames {
			if strings.Contains(stack, frame) {
				found = append(found, stack)
				break
			}
		}
	}
	return strings.Join(found, "\n\n")
}
