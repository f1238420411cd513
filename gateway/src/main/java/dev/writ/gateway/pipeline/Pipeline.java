package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.statistics.Statistics;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The one way into the kernel for surfaces whose callers have no key of their own (protocol rule
 * 32). Thread safe.
 */
public interface Pipeline {

  /**
   * A request for which a surface vouches.
   *
   * @param origin the surface's name, which must be that of one of its keys
   * @param method how the caller was authenticated: {@code bearer}, {@code hmac}, …
   * @param principal the name of the caller's credential
   * @param raw digest of the raw request
   * @param tenant a tenant that the surface has a key for
   * @param idempotencyKey absent: each call is an effect of its own
   * @param keepOutput false: outputs are dropped after the answer, digests stay in the receipt
   * @param context trace context and the like, which no decision uses
   * @param body the raw request itself, for a surface with a profile: the Guardian reads it, and it
   *     is not stored
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

  /** The state of an idempotency key. */
  sealed interface Standing {
    /** Nothing was asked under it. */
    record New() implements Standing {}

    /** An effect under the key is being judged or executed now, in this process. */
    record Running() implements Standing {}

    /**
     * The key was used.
     *
     * @param request the request that took it
     * @param raw digest of the raw request of that time
     * @param served absent if there is no receipt: refused, waiting, or interrupted by a crash
     */
    record Known(Digest request, Optional<Digest> raw, Effect effect, Optional<Served> served)
        implements Standing {}
  }

  /**
   * Signs a request with the surface's key, and has it judged and executed when its turn comes
   * (spec/scheduling.md).
   *
   * @throws dev.writ.canonicalize.WritException {@code GWY-030} where the surface has no key for
   *     that tenant; else as {@link dev.writ.executor.Kernel#submit}
   */
  Answer vouch(Vouched request);

  /**
   * Submits an earlier vouched request again, with the same bytes: one that waited for approval,
   * for example.
   *
   * @param caller must have the request's subject, and a credential narrowed to the same roles
   * @param request the id of one of the tenant's requests
   * @param body as for {@link Vouched}
   * @throws dev.writ.canonicalize.WritException {@code GWY-022}, {@code GWY-040}
   */
  Answer again(Caller caller, Digest request, Optional<byte[]> body);

  /**
   * Has the kernel refuse an earlier request that was allowed and whose turn did not come.
   *
   * @param why the refusal that is recorded
   * @throws dev.writ.canonicalize.WritException {@code why}, unless the request has an outcome or
   *     the kernel refuses it for another reason
   */
  Answer giveUp(Caller caller, Digest request, WritException why);

  /**
   * Signs a request with the surface's key and has it judged only; {@link #again} executes it, when
   * its turn comes.
   *
   * @throws dev.writ.canonicalize.WritException as {@link #vouch}
   */
  Answer decide(Vouched request);

  /**
   * The judgement on an earlier vouched request: the earlier one, or a new one if that no longer
   * stands.
   *
   * @param caller as for {@link #again}
   * @throws dev.writ.canonicalize.WritException {@code GWY-022}, {@code GWY-040}
   */
  Answer decideAgain(Caller caller, Digest request);

  /**
   * Asks to end the running effect of a request.
   *
   * @throws dev.writ.canonicalize.WritException {@code GWY-041}
   */
  void cancel(Caller caller, Digest request);

  /**
   * Runs a tenant's work on a thread of its own; a draining server waits for it.
   *
   * @throws dev.writ.canonicalize.WritException {@code GWY-025} to {@code GWY-027}
   */
  void inBackground(String tenant, Runnable work);

  /** Work of this thread's call that another thread does: what is seen of it is the call's. */
  Runnable inAnotherThread(Runnable work);

  /**
   * The same pipeline for a surface that forbids queues: a call that does not get its turn at once
   * is refused with {@code GWY-080} to {@code GWY-083}, before anything is begun.
   */
  Pipeline withoutWaiting();

  /**
   * Work of this thread's call in a span of its own.
   *
   * @param attributes fixed words, nothing that a caller made up
   * @param trace that the span belongs to, where it is not that of the call
   */
  <T> T inSpan(
      String name,
      SortedMap<String, String> attributes,
      Optional<TraceContext> trace,
      Supplier<T> work);

  /** The same pipeline with an observer of the sandboxes in which its effects run. */
  Pipeline observedBy(SandboxObserver observer);

  /**
   * The same pipeline; it tells the id of each request before its effect begins, so that the effect
   * can be cancelled.
   *
   * @param begins called on the thread that asked, once its turn came; an exception ends the call
   *     before anything is submitted
   */
  Pipeline telling(Consumer<Digest> begins);

  /** Reads without reserving or writing anything. */
  Standing standing(String tenant, String subject, String idempotencyKey);

  /**
   * A tenant's content, verified by its digest; empty if it is not stored.
   *
   * @param bytesMax larger content is refused
   */
  Optional<byte[]> content(String tenant, Content content, long bytesMax);

  /** Closes a run that the surface's key opened (protocol rule 33). */
  void closeRun(String surface, String tenant, String run);

  /** The policy in force. */
  Policy policy();

  /** Everything that is committed, of all tenants; a surface must show a caller only its own. */
  LedgerView ledger();

  /** The kernel, for reading only; effects are submitted by {@link #vouch}. */
  Kernel kernel();

  /** What was counted of the last day; a surface must show a caller only its tenant's. */
  Statistics statistics();

  /** Wakes threads that wait for new events in it. */
  Changes changes();

  /** One reading of the kernel's clock; nothing is dated before it from then on. */
  Instant now();

  /** The same for what nothing is dated by, or may still be refused. */
  Instant look();

  /** Whether the server drains: no new work is begun. */
  boolean isDraining();
}
