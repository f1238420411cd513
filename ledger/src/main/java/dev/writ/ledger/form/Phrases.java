package dev.writ.ledger.form;

import dev.writ.ledger.Format;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The texts that {@link Packing} replaces by their number: what recurs in documents and rows of
 * ours. Stored rows hold the numbers, so a phrase is never changed, moved or removed; a new one is
 * added at the end, and with it a new format of the ledger ({@link Format}).
 */
public final class Phrases {
  /** One on each line; the earliest have the shortest codes. */
  private static final String TEXT =
      """
      ","run":"
      ","subject":"
      ","tenant":"
      ","effect":"
      ","request":"
      ","snapshot":"
      ","prng_seed":"
      ","holder":"
      ","tool":{"name":"
      ","package":"
      ","version":"
      ","budget":"
      "},{"amount":
      ","window_start":"
      ","decision":"
      ","time":"
      ","intent":"
      ","seq":
      "}
      "}}
      {"consumes":[],"context":{},"delegations":[],"effect":{"inputs":[],"operation":"
      {"consumes":[],"context":{
      },"delegations":[],"effect":{"inputs":[
      ],"operation":"
      ","params":{
      },"resources":{"cpu_ms":
      ,"memory_bytes":
      ,"output_bytes":
      ,"wall_ms":
      },"sandbox":"
      ","tool":"
      "},"evidence":[],"nonce":"
      ","requested_at":"
      ","retention":"
      {"checks":[{"check":"prg","detail":"requirement\s
      ): holds","outcome":"pass"},{"check":"budget","detail":"
      ","outcome":"pass"},{"check":"budget","detail":"
      ","outcome":"pass"},{"check":"temporal","detail":"
       accounts have room","outcome":"pass"},{"check":"temporal","detail":"
      age, nonce, hours, rates and order hold
      ","outcome":"pass"},{"check":"envelope","detail":"
      within manifest and role
      ","outcome":"pass"}],"decided_at":"
      ","inputs":{"approvals":[],"artifacts":[],"balances":[
      ","inputs":{"approvals":[
      ],"artifacts":[
      ],"balances":[
      {"budget":"
      ","key":"[\\"
      \\",\\"
      \\"]","limit":
      ,"reserved":
      ,"used":
      T00:00:00.000Z"},{"budget":"
      "}],"charged":["
      "],"history":[],"ignored":[],"nonce_seen":false,"rates":[],"received_at":"
      "],"history":[
      ],"ignored":[],"nonce_seen":false,"rates":[],"received_at":"
      ","roles":["
      "],"step":
      },"policy":"
      "},"policy":"
      ","verdict":"ALLOW"}
      ","verdict":"DENY"}
      ","verdict":"
      {"audience":{"incarnation":
      ,"origin":"
      "},"decision":"
      ","expires_at":"
      ","issued_at":"
      {"args_hash":"
      ","artifacts":[],"decision":"
      ","artifacts":[
      ","finished_at":"
      ","lamport":
      ,"message":"","observations":"
      ,"message":"
      ","observations":"
      ","output":{"digest":"
      ","media_type":"
      application/json","size":
      },"prev":"
      ","prev":"
      ","reason":"ok","request":"
      ","reason":"
      ","retained":true,"run":"
      ","started_at":"
      ","status":"succeeded","subject":"
      ","status":"
      {"at":"
      ","charges":[{"amount":
      ","charges":[],"kept_until":"
      \\"]"},{"amount":
      \\"]"}],"kept_until":"
      ","marks":[],"nonce":"[\\"
      \\"]","state":"settled","step":
      \\"]","state":"reserved","step":
      {"decision":"
      ","received_at":"
      ","state":"allowed","tenant":"
      ","state":"
      {"closed":false,"in_doubt":0,"lamport":
      {"closed":true,"in_doubt":0,"lamport":
      ,"last_receipt":"
      ","opener":"
      ","pending":0,"receipts":
      ,"running":0,"seed":"
      application/vnd.writ.request.v1+json
      application/vnd.writ.decision.v1+json
      application/vnd.writ.intent.v1+json
      application/vnd.writ.receipt.v1+json
      application/vnd.writ.refusal.v1+json
      application/vnd.writ.approval.v1+json
      application/vnd.writ.
      .v1+json
      request.received
      decision.made
      intent.issued
      effect.refused
      effect.dispatched
      effect.finished
      receipt.signed
      run.opened
      run.closed
      bwrap
      ","detail":"
      ","outcome":"
      {"check":"
      ,"workspace_before":"
      ,"workspace_after":"
      {"digest":"
      {"name":"
      "},{"name":"
      ","digest":"
      ","size":
      "}],"
      "},"
      ":[],"
      ":true,"
      ":false,"
      ":{},"
      ":{"
      ":["
      "],"
      ":"
      ","
      """;

  public static final List<byte[]> ALL =
      TEXT.lines().map(line -> line.getBytes(StandardCharsets.US_ASCII)).toList();

  private Phrases() {}
}
