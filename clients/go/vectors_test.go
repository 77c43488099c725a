package holdfast

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// The version of test/vectors that this runner is written for.
const vectorsVersion = 1

const vectors = "../../test/vectors"

// testPatience is how long a step, or anything else in a test, may take.
const testPatience = 30 * time.Second

type vectorsManifest struct {
	Version int `json:"version"`
	Files   []struct {
		File      string `json:"file"`
		Scenarios int    `json:"scenarios"`
	} `json:"files"`
	Scenarios int      `json:"scenarios"`
	Verbs     []string `json:"verbs"`
}

type scenarioFile struct {
	Schema    string     `json:"$schema"`
	Subject   string     `json:"subject"`
	Scenarios []scenario `json:"scenarios"`
}

type scenario struct {
	Name       string                       `json:"name"`
	Settings   json.RawMessage              `json:"settings"`
	Principals map[string]scenarioPrincipal `json:"principals"`
	Steps      []json.RawMessage            `json:"steps"`
}

type scenarioPrincipal struct {
	Kind       string `json:"kind"`
	Role       string `json:"role"`
	Connection string `json:"connection"`
}

func TestVectors(t *testing.T) {
	var manifest vectorsManifest
	readVectors(t, "manifest.json", &manifest)
	if manifest.Version != vectorsVersion {
		t.Fatalf("the scenarios have version %d, this runner is for %d", manifest.Version, vectorsVersion)
	}
	for _, verb := range manifest.Verbs {
		if _, known := verbs[verb]; !known {
			t.Errorf("this runner does not know the verb %q", verb)
		}
	}
	server := startServer(t)
	ran := 0
	for _, listed := range manifest.Files {
		var file scenarioFile
		readVectors(t, listed.File, &file)
		if len(file.Scenarios) != listed.Scenarios {
			t.Errorf("%s has %d scenarios, the manifest says %d", listed.File, len(file.Scenarios), listed.Scenarios)
		}
		t.Run(strings.TrimSuffix(filepath.Base(listed.File), ".json"), func(t *testing.T) {
			for _, scenario := range file.Scenarios {
				ran++
				t.Run(scenario.Name, func(t *testing.T) { runScenario(t, server, scenario) })
			}
		})
	}
	if ran != manifest.Scenarios {
		t.Errorf("ran %d scenarios, the manifest says %d", ran, manifest.Scenarios)
	}
}

func readVectors(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, file))
	if errors.Is(err, os.ErrNotExist) && os.Getenv("HOLDFAST_TEST_SERVER") != "required" {
		t.Skipf("NOT TESTED, the scenarios are not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := strictly(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// strictly decodes JSON and fails on a key that is not known, so that none is passed over.
func strictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// run is one scenario under way.
type run struct {
	t       *testing.T
	server  *realServer
	bound   map[string]any
	tokens  map[string]string
	urls    map[string]string
	clients map[string]*Client
	holds   map[string]*heldLease
	watches map[string]*openWatch
	// Ends what a failed scenario leaves.
	ctx context.Context
}

func runScenario(t *testing.T, server *realServer, s scenario) {
	ctx, cancel := context.WithCancel(t.Context())
	r := &run{
		t: t, server: server, ctx: ctx,
		bound: map[string]any{}, tokens: map[string]string{}, urls: map[string]string{},
		clients: map[string]*Client{}, holds: map[string]*heldLease{}, watches: map[string]*openWatch{},
	}
	defer func() {
		server.act(t, "heal", nil)
		cancel()
		for _, held := range r.holds {
			<-held.ended
		}
		for _, watch := range r.watches {
			<-watch.ended
		}
	}()
	if len(s.Principals) > 0 {
		r.makeProject(s)
	}
	for i, step := range s.Steps {
		var verb struct {
			Do string `json:"do"`
		}
		if err := json.Unmarshal(step, &verb); err != nil {
			t.Fatal(err)
		}
		perform, known := verbs[verb.Do]
		if !known {
			t.Fatalf("step %d: unknown verb %q", i, verb.Do)
		}
		stepCtx, done := context.WithTimeout(ctx, testPatience)
		err := perform(r, stepCtx, step)
		done()
		if err != nil {
			t.Fatalf("step %d, %s: %v", i, step, err)
		}
	}
}

func (r *run) makeProject(s scenario) {
	r.t.Helper()
	settings := &holdfastv1.ProjectSettings{}
	if s.Settings != nil {
		if err := protojson.Unmarshal(s.Settings, settings); err != nil {
			r.t.Fatal(err)
		}
	}
	board := r.server.project(r.t, settings)
	r.bound["project"] = board.project
	for name, principal := range s.Principals {
		kind, isKind := holdfastv1.PrincipalKind_value[principal.Kind]
		role, isRole := holdfastv1.Role_value[principal.Role]
		if !isKind || !isRole {
			r.t.Fatalf("%s is no kind, or %s is no role", principal.Kind, principal.Role)
		}
		r.tokens[name] = board.token(r.t, name, holdfastv1.PrincipalKind(kind), holdfastv1.Role(role))
		switch principal.Connection {
		case "":
			r.urls[name] = r.server.URL
		case "faulty":
			r.urls[name] = r.server.FaultyURL
		default:
			r.t.Fatalf("unknown connection %q", principal.Connection)
		}
	}
}

func (r *run) client(as string) *Client {
	r.t.Helper()
	if client, there := r.clients[as]; there {
		return client
	}
	principal, execution, named := strings.Cut(as, "/")
	if !named {
		execution = "run-1"
	}
	client := r.server.client(r.t, r.urls[principal], r.tokens[principal], WithExecutionID(execution))
	r.clients[as] = client
	return client
}

// fill puts what was bound in the place of its names, everywhere in a value.
func (r *run) fill(value any) (any, error) {
	switch value := value.(type) {
	case string:
		if !strings.HasPrefix(value, "$") {
			return value, nil
		}
		return at(r.bound, value[1:])
	case map[string]any:
		filled := map[string]any{}
		for key, inner := range value {
			var err error
			if filled[key], err = r.fill(inner); err != nil {
				return nil, err
			}
		}
		return filled, nil
	case []any:
		filled := make([]any, len(value))
		for i, inner := range value {
			var err error
			if filled[i], err = r.fill(inner); err != nil {
				return nil, err
			}
		}
		return filled, nil
	default:
		return value, nil
	}
}

// at finds what is at a path of names and numbers; an empty path is all of it.
func at(value any, path string) (any, error) {
	if path == "" {
		return value, nil
	}
	name, rest, _ := strings.Cut(path, ".")
	switch within := value.(type) {
	case map[string]any:
		if inner, there := within[name]; there {
			return at(inner, rest)
		}
	case []any:
		var i int
		if _, err := fmt.Sscan(name, &i); err == nil && i >= 0 && i < len(within) {
			return at(within[i], rest)
		}
	}
	return nil, fmt.Errorf("there is no %q in %v", name, value)
}

func (r *run) bind(names map[string]string, value any) error {
	for name, path := range names {
		part, err := at(value, path)
		if err != nil {
			return err
		}
		r.bound[name] = part
	}
	return nil
}

// meets tells what keeps a value from meeting an expectation.
func (r *run) meets(expected, actual any) error {
	filled, err := r.fill(expected)
	if err != nil {
		return err
	}
	return meets("", filled, actual)
}

func meets(path string, expected, actual any) error {
	differs := func() error { return fmt.Errorf("%s is %v instead of %v", path, actual, expected) }
	switch expected := expected.(type) {
	case nil:
		if actual != nil {
			return differs()
		}
	case string:
		if expected == "*" {
			if actual == nil || actual == "" {
				return differs()
			}
		} else if actual != expected {
			return differs()
		}
	case float64:
		number, is := actual.(float64)
		if !is || number-expected > 0.001 || expected-number > 0.001 {
			return differs()
		}
	case map[string]any:
		object, is := actual.(map[string]any)
		if !is {
			return differs()
		}
		for key, inner := range expected {
			if err := meets(path+"."+key, inner, object[key]); err != nil {
				return err
			}
		}
	case []any:
		array, _ := actual.([]any)
		if len(array) != len(expected) || (actual != nil && array == nil) {
			return differs()
		}
		for i, inner := range expected {
			if err := meets(fmt.Sprintf("%s.%d", path, i), inner, array[i]); err != nil {
				return err
			}
		}
	default:
		if actual != expected {
			return differs()
		}
	}
	return nil
}

// outcome checks what came of a step against what it expects, and binds its parts.
func (r *run) outcome(answer any, err error, expected, failure any, names map[string]string) error {
	if failure != nil {
		if err == nil {
			return errors.New("succeeded instead of failing")
		}
		return r.meets(failure, errorAsJSON(err))
	}
	if err != nil {
		return err
	}
	if expected != nil {
		if err := r.meets(expected, answer); err != nil {
			return err
		}
	}
	return r.bind(names, answer)
}

// asJSON is a message in the protobuf JSON mapping.
func asJSON(message proto.Message) any {
	text, err := protojson.Marshal(message)
	if err != nil {
		panic(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		panic(err)
	}
	return value
}

// fromJSON fills a message from a value in the protobuf JSON mapping.
func fromJSON(value any, message proto.Message) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(text, message)
}

// invoke calls an RPC by its name, such as TaskService/CreateTask, through the client's typed services.
func invoke(ctx context.Context, client *Client, rpc string, request any) (any, error) {
	services := map[string]any{
		"TaskService": client.Tasks, "LeaseService": client.Leases,
		"HistoryService": client.History, "ProjectService": client.Projects,
	}
	service, method, _ := strings.Cut(rpc, "/")
	call := reflect.ValueOf(services[service])
	if !call.IsValid() || !call.MethodByName(method).IsValid() {
		return nil, fmt.Errorf("there is no %s", rpc)
	}
	call = call.MethodByName(method)
	message := reflect.New(call.Type().In(1).Elem()).Interface().(proto.Message)
	if err := fromJSON(request, message); err != nil {
		return nil, err
	}
	returned := call.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(message)})
	if err, failed := returned[1].Interface().(error); failed {
		return nil, err
	}
	return asJSON(returned[0].Interface().(proto.Message)), nil
}

// heldLease is a lease whose work waits for the steps of its scenario.
type heldLease struct {
	began chan struct{}
	leave chan error
	ended chan struct{}
	// After began.
	ctx   context.Context
	lease *Lease
	// After ended.
	err error

	mu      sync.Mutex
	renewed int
	changed chan struct{}
}

// openWatch is a watch whose news wait for the steps of their scenario.
type openWatch struct {
	cancel context.CancelFunc
	news   chan any
	ended  chan struct{}
	// After ended.
	err error
}
