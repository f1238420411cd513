package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A request in the making; {@link TestHome#ask} begins one that would be allowed. */
public final class TestRequest {
  private String tenant;
  private String run = "run-1";
  private String subject;
  private SigningKey signer;
  private String tool = "calc";
  private String version = "1.0.0";
  private String operation = "do";
  private JsonValue.Obj params = TestTools.object("{\"n\":1}");
  private List<Input> inputs = List.of();
  private Resources resources = new Resources(1_000, 64 << 20, 8 << 20, 2_000);
  private String sandbox = TestDriver.SANDBOX;
  private final List<Digest> consumes = new ArrayList<>();
  private Optional<String> idempotencyKey = Optional.empty();
  private String nonce;
  private Instant at;
  private String retention = "keep";
  private List<Digest> evidence = List.of();
  private Optional<Digest> workspaceBefore = Optional.empty();

  public TestRequest(String tenant, String subject, String nonce, Instant at) {
    this.tenant = tenant;
    this.subject = subject;
    this.signer = TestKeys.key(subject);
    this.nonce = nonce;
    this.at = at;
  }

  public TestRequest tenant(String value) {
    tenant = value;
    return this;
  }

  public TestRequest run(String value) {
    run = value;
    return this;
  }

  public TestRequest subject(String value) {
    subject = value;
    return this;
  }

  public TestRequest signedBy(String name) {
    signer = TestKeys.key(name);
    return this;
  }

  public TestRequest tool(String value) {
    tool = value;
    return this;
  }

  public TestRequest version(String value) {
    version = value;
    return this;
  }

  public TestRequest operation(String value) {
    operation = value;
    return this;
  }

  public TestRequest params(String json) {
    params = TestTools.object(json);
    return this;
  }

  public TestRequest input(String name, Digest digest, long size) {
    inputs = List.of(new Input(name, digest, size, "text/plain"));
    return this;
  }

  public TestRequest resources(Resources value) {
    resources = value;
    return this;
  }

  public TestRequest sandbox(String value) {
    sandbox = value;
    return this;
  }

  public TestRequest consumes(Digest receipt) {
    consumes.add(receipt);
    return this;
  }

  public TestRequest key(String value) {
    idempotencyKey = Optional.of(value);
    return this;
  }

  public TestRequest nonce(String value) {
    nonce = value;
    return this;
  }

  public TestRequest at(Instant value) {
    at = value;
    return this;
  }

  public TestRequest dropOutput() {
    retention = "drop-output";
    return this;
  }

  /** Pins the tree of the run's workspace. */
  public TestRequest pins(Digest value) {
    workspaceBefore = Optional.of(value);
    return this;
  }

  public TestRequest evidence(List<Digest> value) {
    evidence = value;
    return this;
  }

  public JsonValue.Obj params() {
    return params;
  }

  public Request request() {
    return new Request(
        new Scope(tenant, run, subject),
        new Effect(tool, version, operation, params, inputs, resources, sandbox, workspaceBefore),
        consumes,
        idempotencyKey,
        nonce,
        at,
        retention,
        JsonValue.object().build(),
        Optional.empty(),
        evidence,
        List.of());
  }

  public Envelope sign() {
    return Envelope.sign(Request.TYPE, request().toJson(), signer);
  }

  public byte[] bytes() {
    return sign().toBytes();
  }

  public Digest id() {
    return sign().id();
  }
}
