// SPDX-License-Identifier: MIT OR Apache-2.0

// A client of the daemon that shares no code with it: grpc-go over the messages of
// proto/cuzk/v1/proving.proto, dialling as Curio does. Sends real vanilla proofs of all kinds under
// Curio's request ids, retries, cancels, floods; writes each proof to a file for `cuzk verify`.
//
//	client ADDRESS CASES OUT FLOOD
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/ioutil"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "cuzk/v1"
)

func must(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func check(ok bool, format string, a ...interface{}) {
	if !ok {
		fmt.Fprintf(os.Stderr, "FAILED: "+format+"\n", a...)
		os.Exit(1)
	}
}

func read(parts ...string) []byte {
	path := filepath.Join(parts...)
	packed, err := ioutil.ReadFile(path)
	must(err, "reading a case")
	if !strings.HasSuffix(path, ".gz") {
		return packed
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	must(err, path)
	data, err := ioutil.ReadAll(z)
	must(err, path)
	return data
}

func expected(folder string) map[string]interface{} {
	out := map[string]interface{}{}
	must(json.Unmarshal(read(folder, "expected.json.gz"), &out), folder)
	return out
}

func unhex(x interface{}) []byte {
	b, err := hex.DecodeString(x.(string))
	must(err, "hex")
	return b
}

// miner id from a prover id: unsigned LEB128
func miner(x interface{}) uint64 {
	var id uint64
	for i, b := range unhex(x) {
		id |= uint64(b&0x7f) << (7 * uint(i))
		if b < 0x80 {
			break
		}
	}
	return id
}

func envelope(sector uint64, c1 []byte) []byte {
	text, err := json.Marshal(map[string]interface{}{
		"SectorNum": sector, "Phase1Out": c1, "SectorSize": 2048})
	must(err, "envelope")
	return text
}

func post(folder, name string, kind pb.ProofKind, id string, from, to int) *pb.SubmitProofRequest {
	e := expected(filepath.Join(folder, name))
	r := &pb.SubmitProofRequest{RequestId: id, ProofKind: kind, SectorSize: 2048,
		RegisteredProof: uint64(e["registered_post_proof"].(float64)),
		MinerId:         miner(e["prover_id"]), Randomness: unhex(e["randomness"]),
		Priority: pb.Priority_HIGH}
	for i := from; i < to; i++ {
		r.VanillaProofs = append(r.VanillaProofs,
			read(folder, name, fmt.Sprintf("vanilla-%d.bincode.gz", i)))
	}
	return r
}

func cases(folder string) map[string]*pb.SubmitProofRequest {
	out := map[string]*pb.SubmitProofRequest{}
	p := expected(filepath.Join(folder, "porep-2k-1"))
	sector, id := uint64(p["sector"].(float64)), miner(p["prover_id"])
	for _, dialect := range []string{"c1.json.gz", "c1-go.json.gz"} {
		out["porep "+dialect] = &pb.SubmitProofRequest{
			RequestId: fmt.Sprintf("porep-%d-%d", id, sector), ProofKind: pb.ProofKind_POREP_SEAL_COMMIT,
			SectorSize: 2048, RegisteredProof: uint64(p["registered_seal_proof"].(float64)),
			Priority: pb.Priority_NORMAL, SectorNumber: sector, MinerId: id,
			VanillaProof: envelope(sector, read(folder, "porep-2k-1", dialect))}
	}
	u := expected(filepath.Join(folder, "update-2k-6"))
	out["snap"] = &pb.SubmitProofRequest{
		RequestId: "snap-1000-1", ProofKind: pb.ProofKind_SNAP_DEALS_UPDATE, SectorSize: 0,
		RegisteredProof: uint64(u["registered_update_proof"].(float64)),
		VanillaProofs:   [][]byte{read(folder, "update-2k-6", "vanilla-0.bincode.gz")},
		CommROld:        unhex(u["comm_r_old"]), CommRNew: unhex(u["comm_r_new"]),
		CommDNew: unhex(u["comm_d_new"])}
	out["winning"] = post(folder, "winning-2k-5", pb.ProofKind_WINNING_POST,
		"winpost-1000-0011223344556677", 0, 1)
	out["winning"].Priority = pb.Priority_CRITICAL
	// all partitions of a deadline have one id
	deadline := "wdpost-1000-0-[43 217 149 189 117 147 14 161]"
	out["window first"] = post(folder, "window-2k-3sectors-4", pb.ProofKind_WINDOW_POST_PARTITION,
		deadline, 0, 2)
	out["window second"] = post(folder, "window-2k-1sectors-3", pb.ProofKind_WINDOW_POST_PARTITION,
		deadline, 0, 1)
	return out
}

func prove(c pb.ProvingEngineClient, r *pb.SubmitProofRequest, limit time.Duration) (*pb.AwaitProofResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	answer, err := c.Prove(ctx, &pb.ProveRequest{Submit: r})
	if err != nil {
		return nil, err
	}
	return answer.Result, nil
}

func main() {
	address, folder, out := os.Args[1], os.Args[2], os.Args[3]
	var flood int
	fmt.Sscan(os.Args[4], &flood)
	target := address
	if !strings.Contains(target, "://") && !strings.HasPrefix(target, "unix:") {
		target = "dns:///" + target
	}
	conn, err := grpc.Dial(target, grpc.WithInsecure(), grpc.WithDefaultCallOptions(
		grpc.MaxCallRecvMsgSize(256<<20), grpc.MaxCallSendMsgSize(256<<20)))
	must(err, "dialling")
	c := pb.NewProvingEngineClient(conn)
	requests := cases(folder)

	// every kind at once
	var wait sync.WaitGroup
	first := sync.Map{}
	for name, r := range requests {
		wait.Add(1)
		go func(name string, r *pb.SubmitProofRequest) {
			defer wait.Done()
			a, err := prove(c, r, 10*time.Minute)
			must(err, name)
			check(a.Status == pb.AwaitProofResponse_COMPLETED, "%s: %v %s", name, a.Status, a.ErrorMessage)
			check(len(a.Proof) > 0 && len(a.Proof)%192 == 0, "%s: %d bytes of proof", name, len(a.Proof))
			must(ioutil.WriteFile(filepath.Join(out, strings.Replace(name, " ", "-", -1)+".proof"), a.Proof, 0o644), name)
			first.Store(name, a)
			fmt.Printf("%s: %d bytes, total %d ms, device %d ms, job %q\n", name, len(a.Proof), a.TotalMs, a.GpuComputeMs, a.JobId)
		}(name, r)
	}
	wait.Wait()

	// the same again is answered from what is kept
	for name, r := range requests {
		a, err := prove(c, r, time.Second*20)
		must(err, name+" again")
		was, _ := first.Load(name)
		check(bytes.Equal(a.Proof, was.(*pb.AwaitProofResponse).Proof), "%s again: another proof", name)
	}

	// a call that is given up leaves its job; the repeated one attaches to it
	r := cases(folder)["winning"]
	r.RequestId = "given-up"
	_, err = prove(c, r, 60*time.Millisecond)
	check(status.Code(err) == codes.DeadlineExceeded, "given up: %v", err)
	ctx, stop := context.WithCancel(context.Background())
	go func() { time.Sleep(30 * time.Millisecond); stop() }()
	_, err = c.Prove(ctx, &pb.ProveRequest{Submit: r})
	check(status.Code(err) == codes.Canceled, "cancelled: %v", err)
	a, err := prove(c, r, time.Minute)
	must(err, "asked again")
	check(a.Status == pb.AwaitProofResponse_COMPLETED && a.JobId == "given-up", "asked again: %v", a)

	// wrong requests
	refuse := func(name string, change func(*pb.SubmitProofRequest)) {
		r := cases(folder)["winning"]
		r.RequestId = name
		change(r)
		_, err := prove(c, r, time.Minute)
		check(status.Code(err) == codes.InvalidArgument, "%s: %v", name, err)
		fmt.Printf("%s: %s\n", name, status.Convert(err).Message())
	}
	refuse("no kind", func(r *pb.SubmitProofRequest) { r.ProofKind = 0 })
	refuse("unknown kind", func(r *pb.SubmitProofRequest) { r.ProofKind = 17 })
	refuse("no vanilla proof", func(r *pb.SubmitProofRequest) { r.VanillaProofs = nil })
	refuse("short randomness", func(r *pb.SubmitProofRequest) { r.Randomness = r.Randomness[1:] })
	refuse("other randomness", func(r *pb.SubmitProofRequest) { r.Randomness[3] ^= 1 })
	refuse("half a vanilla proof", func(r *pb.SubmitProofRequest) { r.VanillaProofs[0] = r.VanillaProofs[0][:5000] })
	refuse("120 MB of nothing", func(r *pb.SubmitProofRequest) {
		r.ProofKind = pb.ProofKind_POREP_SEAL_COMMIT
		r.VanillaProof = []byte(base64.StdEncoding.EncodeToString(make([]byte, 90<<20)))
	})
	_, err = c.AwaitProof(context.Background(), &pb.AwaitProofRequest{JobId: "nobody"})
	check(status.Code(err) == codes.NotFound, "unknown job: %v", err)
	_, err = c.PreloadSRS(context.Background(), &pb.PreloadSrsRequest{CircuitId: "porep-99g"})
	check(status.Code(err) == codes.NotFound, "unknown circuit: %v", err)
	_, err = c.PreloadSRS(context.Background(), &pb.PreloadSrsRequest{CircuitId: "porep-64g"})
	check(status.Code(err) == codes.FailedPrecondition, "missing parameters: %v", err)

	// a flood: every id has one answer
	var next, answered int64
	begin := time.Now()
	for i := 0; i < 64; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for {
				n := atomic.AddInt64(&next, 1)
				if n > int64(flood) {
					return
				}
				r := cases(folder)["window second"]
				r.RequestId = fmt.Sprintf("flood-%d", n)
				a, err := prove(c, r, 30*time.Minute)
				must(err, r.RequestId)
				check(a.Status == pb.AwaitProofResponse_COMPLETED && a.JobId == r.RequestId && len(a.Proof) == 192,
					"%s: %v", r.RequestId, a)
				must(ioutil.WriteFile(filepath.Join(out, r.RequestId+".proof"), a.Proof, 0o644), "flood")
				atomic.AddInt64(&answered, 1)
			}
		}()
	}
	wait.Wait()
	s, err := c.GetStatus(context.Background(), &pb.GetStatusRequest{})
	must(err, "status")
	for _, q := range s.Queues {
		check(q.Pending == 0 && q.InProgress == 0, "after the flood: %v", q)
	}
	fmt.Printf("flood: %d answers in %.1f s; completed %d, failed %d\n", answered,
		time.Since(begin).Seconds(), s.TotalProofsCompleted, s.TotalProofsFailed)
}
