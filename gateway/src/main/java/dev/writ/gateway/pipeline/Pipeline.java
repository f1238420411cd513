package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.http.Caller;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The one way into the kernel for surfaces whose callers have no key of their own (protocol rule
 * 32). Thread safe.
 */
public interface Pipeline {

  /**
   * What a surface vouches for.
   *
   * @param origin the surface's name, which must be that of one of its keys
   * @param method how the caller was authenticated: {@code bearer}, {@code hmac}, …
   * @param principal the name of the caller's credential
   * @param raw digest of the raw request
   * @param tenant a tenant that the surface has a key for
   * @param idempotencyKey absent: each call is an effect of its own
   * @param keepOutput false: outputs are dropped after the answer, digests stay in the receipt
   * @param context trace context and the like, read by nobody who decides
   * @param body the raw request itself, for a surface with a profile: the Guardian reads it, nobody
   *     keeps it
   * @param execution a name by which the surface's callers know the execution
   */
  record Vouched(
      String origin,
      String method,
      String principal,
      Digest raw,
      String tenant,
      String run,
      String subject,
      Effect effect,
      List<Digest> consumes,
      Optional<String> idempotencyKey,
      boolean keepOutput,
      JsonValue.Obj context,
      Optional<byte[]> body,
      Optional<String> execution) {
    public Vouched {
      consumes = List.copyOf(consumes);
    }

    /** For a surface without a profile. */
    public Vouched(
        String origin,
        String method,
        String principal,
        Digest raw,
        String tenant,
        String run,
        String subject,
        Effect effect,
        List<Digest> consumes,
        Optional<String> idempotencyKey,
        boolean keepOutput,
        JsonValue.Obj context) {
      this(
          origin,
          method,
          principal,
          raw,
          tenant,
          run,
          subject,
          effect,
          consumes,
          idempotencyKey,
          keepOutput,
          context,
          Optional.empty(),
          Optional.empty());
    }
  }

  /** What is known of an idempotency key. */
  sealed interface Standing {
    /** Nothing was asked under it. */
    record New() implements Standing {}

    /** An effect under it is being judged or executed now, in this process. */
    record Running() implements Standing {}

    /**
     * It was used.
     *
     * @param request the request that took it
     * @param raw digest of the raw request that a surface vouched for then
     * @param served absent where it was not served: refused, waiting, or cut off by a crash
     */
    record Known(Digest request, Optional<Digest> raw, Effect effect, Optional<Served> served)
        implements Standing {}
  }

  /**
   * Signs a request with the surface's key and puts it through judgement and execution, when its
   * turn comes (spec/scheduling.md).
   *
   * @throws dev.writ.canonicalize.WritException {@code GWY-030} where the surface has no key for
   *     that tenant; else as {@link dev.writ.executor.Kernel#submit}
   */
  Answer vouch(Vouched request);

  /**
   * Puts a request that was vouched for before, and has waited, through again: the same bytes.
   *
   * @param caller of its subject, with a credential that is narrowed as the one was that it was
   *     vouched for
   * @param request the id of one of the tenant's requests
   * @param body as for {@link Vouched}
   * @throws dev.writ.canonicalize.WritException {@code GWY-022}, {@code GWY-040}
   */
  Answer again(Caller caller, Digest request, Optional<byte[]> body);

  /**
   * Signs a request with the surface's key and has it judged, no more: it is executed by {@link
   * #again}, when its turn comes.
   *
   * @throws dev.writ.canonicalize.WritException as {@link #vouch}
   */
  Answer decide(Vouched request);

  /**
   * How a request that was vouched for before is judged now: as it was, where that still stands.
   *
   * @param caller as for {@link #again}
   * @throws dev.writ.canonicalize.WritException {@code GWY-022}, {@code GWY-040}
   */
  Answer decideAgain(Caller caller, Digest request);

  /**
   * Asks that the running effect of a request end.
   *
   * @throws dev.writ.canonicalize.WritException {@code GWY-041}
   */
  void cancel(Caller caller, Digest request);

  /**
   * Does work of a tenant's on a thread of its own; a server that drains waits for it.
   *
   * @throws dev.writ.canonicalize.WritException {@code GWY-025} to {@code GWY-027}
   */
  void inBackground(String tenant, Runnable work);

  /**
   * The same pipeline for a surface that forbids queues: what does not have its turn at once is
   * refused with {@code GWY-080} to {@code GWY-083}, and nothing of it is begun.
   */
  Pipeline withoutWaiting();

  /** Looks without taking anything. */
  Standing standing(String tenant, String subject, String idempotencyKey);

  /**
   * A tenant's content, verified by its digest, where it is at hand.
   *
   * @param bytesMax more is refused
   */
  Optional<byte[]> content(String tenant, Content content, long bytesMax);

  /** Closes a run that the surface's key opened (protocol rule 33). */
  void closeRun(String surface, String tenant, String run);

  /** The policy in force. */
  Policy policy();

  /** What is committed, of all tenants: a surface shows each caller its own. */
  LedgerView ledger();

  /** The kernel, for what a surface reads; effects are asked for by {@link #vouch}. */
  Kernel kernel();

  /** Wakes who waits for something new in it. */
  Changes changes();

  /** One reading of the kernel's clock. */
  Instant now();

  /** Whether the server drains: nothing new is begun. */
  boolean isDraining();
}
