package dev.writ.executor.driver;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.engine.HostTerms;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * All inputs of an operation. Two runs with equal invocations give equal outcomes, for a pure or
 * reproducible tool.
 *
 * @param seed 32 bytes: the seed of the tool's random numbers
 * @param time the clock reading of {@code effect.dispatched}: what the tool sees as the time
 * @param resources the declared ceiling, which the driver enforces
 * @param workspaceBefore the tree digest of the run's workspace as it is now, for a tool that uses
 *     it
 * @param approved whether the decision saw a signed approval for this very request
 * @param host policy's terms for the host that this runs on
 * @param call whose call it is
 */
public record Invocation(
    Scope scope,
    JsonValue.Obj params,
    List<Input> inputs,
    InputContent content,
    byte[] seed,
    Instant time,
    Resources resources,
    String sandbox,
    Optional<Digest> workspaceBefore,
    boolean approved,
    HostTerms host,
    CallContext call) {

  /** Of nobody's call. */
  public Invocation(
      Scope scope,
      JsonValue.Obj params,
      List<Input> inputs,
      InputContent content,
      byte[] seed,
      Instant time,
      Resources resources,
      String sandbox,
      Optional<Digest> workspaceBefore,
      boolean approved,
      HostTerms host) {
    this(
        scope,
        params,
        inputs,
        content,
        seed,
        time,
        resources,
        sandbox,
        workspaceBefore,
        approved,
        host,
        CallContext.NONE);
  }

  /** The same under a policy without terms for hosts. */
  public Invocation(
      Scope scope,
      JsonValue.Obj params,
      List<Input> inputs,
      InputContent content,
      byte[] seed,
      Instant time,
      Resources resources,
      String sandbox,
      Optional<Digest> workspaceBefore,
      boolean approved) {
    this(
        scope,
        params,
        inputs,
        content,
        seed,
        time,
        resources,
        sandbox,
        workspaceBefore,
        approved,
        HostTerms.NONE);
  }

  /** The same operation, as part of a call. */
  public Invocation of(CallContext context) {
    return new Invocation(
        scope,
        params,
        inputs,
        content,
        seed,
        time,
        resources,
        sandbox,
        workspaceBefore,
        approved,
        host,
        context);
  }

  /** Opens an input's bytes; they are re-hashed while read and a mismatch throws. */
  @FunctionalInterface
  public interface InputContent {
    InputStream open(Input input);
  }
}
