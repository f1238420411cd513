package dev.writ.tools;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.engine.CallLimits;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.guardian.policy.engine.ResourceClasses;
import dev.writ.guardian.policy.seed.CommandLimits;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Builds one invocation of a prepared tool and runs it. */
public final class Call {
  public static final Instant TIME = Instant.parse("2026-01-02T03:04:05.678Z");

  private final Driver.Prepared prepared;
  private JsonValue.Obj params = JsonValue.object().build();
  private final TreeMap<String, byte[]> inputs = new TreeMap<>();
  private byte[] seed = seed(1);
  private Instant time = TIME;
  private long cpuMs = 120_000;
  private long memoryBytes = 256L << 20;
  private long outputBytes = 1 << 20;
  private long wallMs = 600_000;
  private String sandbox = "wasm";
  private String tenant = "acme";
  private String run = "run-1";
  private boolean approved;
  private HostTerms host = HostTerms.NONE;

  public Call(Driver.Prepared prepared) {
    this.prepared = prepared;
  }

  /** 32 bytes that differ for each number. */
  public static byte[] seed(int number) {
    byte[] seed = new byte[32];
    Arrays.fill(seed, (byte) number);
    return seed;
  }

  public Call params(JsonValue.Obj value) {
    params = value;
    return this;
  }

  public Call input(String name, String text) {
    return input(name, text.getBytes(StandardCharsets.UTF_8));
  }

  public Call input(String name, byte[] bytes) {
    inputs.put(name, bytes);
    return this;
  }

  public Call seed(byte[] bytes) {
    seed = bytes;
    return this;
  }

  public Call time(String rfc3339) {
    time = Instant.parse(rfc3339);
    return this;
  }

  public Call cpuMs(long value) {
    cpuMs = value;
    return this;
  }

  public Call memoryBytes(long value) {
    memoryBytes = value;
    return this;
  }

  public Call outputBytes(long value) {
    outputBytes = value;
    return this;
  }

  public Call wallMs(long value) {
    wallMs = value;
    return this;
  }

  public Call sandbox(String profile) {
    sandbox = profile;
    return this;
  }

  public Call inRun(String name) {
    run = name;
    return this;
  }

  public Call approved() {
    approved = true;
    return this;
  }

  /** As a subject of another tenant. */
  public Call ofTenant(String name) {
    tenant = name;
    return this;
  }

  /** Policy's directory of each tenant. */
  public Call workspaces(SortedMap<String, String> directories) {
    host =
        new HostTerms(
            host.waived(),
            host.images(),
            host.commands(),
            host.classes(),
            Optional.of(directories));
    return this;
  }

  /** Guarantees that policy does without. */
  public Call waiving(List<String> names) {
    host = new HostTerms(names, host.images(), host.commands(), host.classes(), host.workspaces());
    return this;
  }

  /** An image in which policy has a program run. */
  public Call image(String program, String image) {
    TreeMap<String, String> images = new TreeMap<>(host.images());
    images.put(program, image);
    host = new HostTerms(host.waived(), images, host.commands(), host.classes(), host.workspaces());
    return this;
  }

  /** Policy's limits of commands. */
  public Call limits(CommandLimits limits) {
    host =
        new HostTerms(
            host.waived(), host.images(), Optional.of(limits), host.classes(), host.workspaces());
    return this;
  }

  /** What policy's resource classes set, whatever the class. */
  public Call limits(CallLimits limits) {
    ResourceClasses.ResourceLimits each =
        new ResourceClasses.ResourceLimits(
            new Resources(cpuMs, memoryBytes, outputBytes, wallMs), limits);
    host =
        new HostTerms(
            host.waived(),
            host.images(),
            host.commands(),
            new ResourceClasses(each, each, each),
            host.workspaces());
    return this;
  }

  public Invocation invocation() {
    List<Input> list = new ArrayList<>();
    for (Map.Entry<String, byte[]> entry : inputs.entrySet()) {
      byte[] bytes = entry.getValue();
      list.add(
          new Input(
              entry.getKey(), Digest.sha256(bytes), bytes.length, "application/octet-stream"));
    }
    return new Invocation(
        new Scope(tenant, run, "agent-1"),
        params,
        list,
        input -> new ByteArrayInputStream(inputs.get(input.name())),
        seed,
        time,
        new Resources(cpuMs, memoryBytes, outputBytes, wallMs),
        sandbox,
        Optional.empty(),
        approved,
        host);
  }

  public DriverOutcome run() {
    return prepared.run(invocation());
  }

  /** The output as text, of a run that must succeed. */
  public String text() {
    DriverOutcome outcome = run();
    if (outcome.end() != DriverOutcome.End.SUCCEEDED) {
      throw new AssertionError(show(outcome));
    }
    return text(outcome);
  }

  public static String text(DriverOutcome outcome) {
    return new String(outcome.output().orElseThrow().bytes(), StandardCharsets.UTF_8);
  }

  /** All of an outcome that a replay compares, as text. */
  public static String show(DriverOutcome outcome) {
    return outcome.end()
        + " "
        + outcome.reason()
        + " "
        + outcome.message()
        + " "
        + outcome.output().map(o -> o.mediaType() + " " + text(outcome)).orElse("-")
        + " "
        + new String(Jcs.write(outcome.observations()), StandardCharsets.UTF_8);
  }
}
