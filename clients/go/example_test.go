package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	holdfast "holdfast.dev/go"
	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

func build(context.Context, *holdfastv1.Task) (string, error) { return "", nil }

// The best ready task is leased, and the lease kept while the work runs; completing it ends the lease.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := holdfast.New("http://localhost:7420", os.Getenv("HOLDFAST_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	err = client.WithNextLease(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		result, err := build(ctx, lease.Task())
		if err != nil {
			return err
		}
		_, err = lease.Complete(ctx, result)
		return err
	}, holdfast.WithWait(time.Minute))
	if err != nil {
		log.Fatal(err)
	}
}

// Every error can be told apart.
func ExampleClient_WithLease() {
	client, err := holdfast.New("http://localhost:7420", os.Getenv("HOLDFAST_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	err = client.WithLease(context.Background(), "task-1", func(ctx context.Context, lease *holdfast.Lease) error {
		_, err := lease.AddNote(ctx, "begun")
		return err
	}, holdfast.WithTTL(5*time.Minute))
	var refused *holdfast.Refused
	var lost *holdfast.LeaseLost
	switch {
	case errors.As(err, &refused):
		fmt.Println("take another one:", refused.Refusal.GetAlternatives())
	case errors.As(err, &lost):
		fmt.Println("somebody else may work on it now:", lost.Kind)
	case errors.Is(err, holdfast.ErrStaleLock):
		fmt.Println("it was granted to somebody else since")
	case err != nil:
		log.Fatal(err)
	}
}

// Ready tasks are done one after the other, until the context is done.
func ExampleClient_Work() {
	client, err := holdfast.New("http://localhost:7420", os.Getenv("HOLDFAST_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	handle := func(ctx context.Context, lease *holdfast.Lease) (string, error) {
		return build(ctx, lease.Task())
	}
	if err := client.Work(context.Background(), handle, holdfast.WithLabels("build")); err != nil {
		log.Fatal(err)
	}
}

// The token of the last checkpoint goes on from there, after a restart too.
func ExampleClient_Watch() {
	client, err := holdfast.New("http://localhost:7420", os.Getenv("HOLDFAST_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	options := holdfast.WatchOptions{Kinds: []holdfastv1.EventKind{holdfastv1.EventKind_EVENT_KIND_LEASE_EXPIRED}}
	for news, err := range client.Watch(context.Background(), options) {
		if err != nil {
			log.Fatal(err)
		}
		switch news := news.(type) {
		case holdfast.Snapshot:
			fmt.Println("leased now:", len(news.Leases))
		case holdfast.Event:
			fmt.Println(news.GetPosition(), news.GetTaskId(), "was abandoned")
		case holdfast.Checkpoint:
			options.ResumeAfter = news.ResumeToken
		case holdfast.Gap:
			fmt.Println("some of it was missed:", news.Reason)
		}
	}
}
