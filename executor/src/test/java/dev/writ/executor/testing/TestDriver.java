package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.HostTerms;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;

/**
 * A driver whose tools do what a test says, and that remembers every run. It would be pure; what
 * the tools are, their manifests say.
 */
public final class TestDriver implements Driver {
  public static final String NAME = "test";

  /** The sandbox profile that it has. */
  public static final String SANDBOX = "box";

  /** What a tool does. */
  @FunctionalInterface
  public interface Behaviour {
    DriverOutcome run(Invocation invocation);
  }

  /** One run, as it happened. */
  public record Run(String tool, String operation, Invocation invocation) {}

  private final List<Run> runs = new ArrayList<>();
  private final TreeMap<String, Behaviour> behaviours = new TreeMap<>();
  private final List<List<String>> waived = new ArrayList<>();
  private RuntimeException whenPreparing;
  private Runnable whilePreparing = () -> {};

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Determinism determinism() {
    return Determinism.PURE;
  }

  @Override
  public Digest sandboxProfile(String profile) {
    if (!profile.equals(SANDBOX)) {
      throw new WritException(ExecutorError.SANDBOX_MISSING, profile);
    }
    return Digest.sha256(profile.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public synchronized Prepared prepare(
      ToolManifest manifest, String operation, PackageContent content, HostTerms host) {
    waived.add(host.waived());
    return prepare(manifest, operation, content);
  }

  /** What happens while a tool is made ready. */
  public synchronized void whilePreparing(Runnable happens) {
    whilePreparing = happens;
  }

  /** What the policies of all effects that were made ready did without. */
  public synchronized List<List<String>> waived() {
    return List.copyOf(waived);
  }

  @Override
  public synchronized Prepared prepare(
      ToolManifest manifest, String operation, PackageContent content) {
    manifest.files().forEach(content::read);
    whilePreparing.run();
    if (whenPreparing != null) {
      throw whenPreparing;
    }
    return invocation -> {
      Behaviour behaviour;
      synchronized (this) {
        runs.add(new Run(manifest.name(), operation, invocation));
        behaviour =
            behaviours.getOrDefault(
                manifest.name(), operation.equals("text") ? Behaviours::text : Behaviours::echo);
      }
      return behaviour.run(invocation);
    };
  }

  /** From now on that tool does this. */
  public synchronized void does(String tool, Behaviour behaviour) {
    behaviours.put(tool, behaviour);
  }

  /** From now on no tool can be made ready; null ends that. */
  public synchronized void refusesToPrepare(RuntimeException exception) {
    whenPreparing = exception;
  }

  public synchronized List<Run> runs() {
    return List.copyOf(runs);
  }

  /** How many effects with exactly these params ran. */
  public synchronized long runsWith(JsonValue params) {
    return runs.stream().filter(run -> run.invocation().params().equals(params)).count();
  }

  /** A success whose output shows everything that the tool could see. */
  static JsonValue.Obj seen(Invocation invocation) {
    return JsonValue.object()
        .put("ok", true)
        .put("params", invocation.params())
        .put("seed", HexFormat.of().formatHex(invocation.seed()))
        .put("time", invocation.time())
        .build();
  }

  static byte[] seenBytes(Invocation invocation) {
    return Jcs.write(seen(invocation));
  }
}
