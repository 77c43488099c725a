package holdfast

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	"holdfast.dev/go/gen/holdfast/v1/holdfastv1connect"
)

// Client is one server's API as typed services, and one execution of one caller. It is safe for concurrent use.
//
// The services send each request as it is given, but for a request id where one is missing. Every write of an agent
// needs its execution id: [Client.ExecutionID]. The methods of [Lease] add it, and the proof, by themselves.
type Client struct {
	// Tasks has tasks and the plans that order them.
	Tasks holdfastv1connect.TaskServiceClient
	// Leases grants, renews and ends leases.
	Leases holdfastv1connect.LeaseServiceClient
	// History reads what happened.
	History holdfastv1connect.HistoryServiceClient
	// Projects has projects, the caller's identity, and tokens.
	Projects holdfastv1connect.ProjectServiceClient

	executionID string
	closeIdle   func()
	clock       clock
	random      func() float64
}

// Option changes how [New] makes a client.
type Option func(*settings)

type settings struct {
	executionID string
	httpClient  *http.Client
	// The rest is for tests.
	transport connect.Transport
	clock     clock
	random    func() float64
}

// WithExecutionID names this run of the caller, with 1 to 256 printable characters, instead of a random name.
func WithExecutionID(id string) Option {
	return func(s *settings) { s.executionID = id }
}

// WithHTTPClient carries the calls instead of a client made for it. It must speak HTTP/2 without TLS to servers whose
// address begins with http:// ([http.Protocols.SetUnencryptedHTTP2]), and should not have a Timeout: a watch is one
// request.
func WithHTTPClient(client *http.Client) Option {
	return func(s *settings) { s.httpClient = client }
}

// New makes a client of the server at address, such as http://localhost:7420, for the caller with token, hf_…. It
// connects at the first call. The error says when address is none.
func New(address, token string, options ...Option) (*Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, fmt.Errorf("holdfast: %q is not a server's address; it looks like http://localhost:7420", address)
	}
	s := settings{executionID: rand.Text(), clock: newSystemClock(), random: mathrand.Float64}
	for _, option := range options {
		option(&s)
	}
	if s.httpClient == nil {
		s.httpClient = newHTTPClient()
	}
	if s.transport == nil {
		s.transport = connecthttp.NewTransport(s.httpClient, address)
	}
	calls := connect.NewClient(s.transport, newCaller(token, s.random).intercept)
	return &Client{
		Tasks:       holdfastv1connect.NewTaskServiceClient(calls),
		Leases:      holdfastv1connect.NewLeaseServiceClient(calls),
		History:     holdfastv1connect.NewHistoryServiceClient(calls),
		Projects:    holdfastv1connect.NewProjectServiceClient(calls),
		executionID: s.executionID,
		closeIdle:   s.httpClient.CloseIdleConnections,
		clock:       s.clock,
		random:      s.random,
	}, nil
}

// ExecutionID names the execution in which leases are acquired.
func (c *Client) ExecutionID() string { return c.executionID }

// Close closes the connections that no call uses. End calls and watches by their contexts.
func (c *Client) Close() { c.closeIdle() }

func newHTTPClient() *http.Client {
	var protocols http.Protocols
	// For http:// HTTP/2 alone, so that calls and watches share one connection; for https:// what the server offers.
	protocols.SetUnencryptedHTTP2(true)
	protocols.SetHTTP2(true)
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		Protocols:           &protocols,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		// A half-open connection is noticed by unanswered pings; without them a watch would hang until its silence.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	}}
}
