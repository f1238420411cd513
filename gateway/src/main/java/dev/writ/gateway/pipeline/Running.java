package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.ExpectedCall;
import dev.writ.executor.driver.Invocation;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.engine.HostTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

/**
 * The effects that tools are executing now, so that they can be cancelled. Only the tool itself is
 * interrupted, not the kernel's work before and after it, so every cancelled effect gets its
 * receipt.
 */
public final class Running {
  private final ThreadLocal<Effect> current = new ThreadLocal<>();

  /** All that have to do with a request: which of them the kernel lets execute it, it says late. */
  private final TreeMap<Digest, List<Effect>> byRequest = new TreeMap<>();

  private final CancelledThere elsewhere;
  private BiPredicate<String, String> prohibited = (_, _) -> false;

  /** Ends effects that run in another process. */
  @FunctionalInterface
  public interface CancelledThere {
    /** Ends that of a request, if it runs there. */
    void cancel(Digest request, String tenant, String subject);
  }

  /** Of a process that runs its tools itself. */
  public Running() {
    this((_, _, _) -> {});
  }

  /** Of one whose tools run in another. */
  public Running(CancelledThere elsewhere) {
    this.elsewhere = elsewhere;
  }

  /** One request's execution in the kernel. */
  private static final class Effect {
    final String tenant;
    final String subject;
    final Digest request;
    final ToolObserver observer;
    private Thread inTool;
    private ToolManifest tool;
    private boolean cancelled;

    Effect(Digest request, String tenant, String subject, ToolObserver observer) {
      this.request = request;
      this.tenant = tenant;
      this.subject = subject;
      this.observer = observer;
    }

    synchronized void enter(ToolManifest manifest) {
      inTool = Thread.currentThread();
      tool = manifest;
      if (cancelled) {
        inTool.interrupt();
      }
    }

    /** The tool has ended: no more interrupts, and one that came at the last moment is cleared. */
    synchronized void leave() {
      inTool = null;
      Thread.interrupted();
    }

    synchronized void cancel() {
      cancelled = true;
      if (inTool != null) {
        inTool.interrupt();
      }
    }

    /** Cancels it if its tool must no longer run. */
    synchronized void cancelIf(BiPredicate<String, String> prohibited) {
      if (inTool != null && prohibited.test(tool.name(), tool.version())) {
        cancel();
      }
    }
  }

  /**
   * Runs a request's work so that it can be cancelled.
   *
   * @param observer of its tool
   */
  public <T> T during(
      Digest request, String tenant, String subject, ToolObserver observer, Supplier<T> work) {
    Effect effect = new Effect(request, tenant, subject, observer);
    synchronized (byRequest) {
      byRequest.computeIfAbsent(request, _ -> new ArrayList<>()).add(effect);
    }
    current.set(effect);
    try {
      return work.get();
    } finally {
      current.remove();
      synchronized (byRequest) {
        byRequest.get(request).remove(effect);
        if (byRequest.get(request).isEmpty()) {
          byRequest.remove(request);
        }
      }
    }
  }

  /**
   * Asks to end a request's effect. Its receipt states {@code killed}, or its own end if that came
   * first.
   *
   * @throws WritException {@code GWY-041} where no effect of that request runs for this subject
   */
  public void cancel(Digest request, String tenant, String subject) {
    List<Effect> own;
    synchronized (byRequest) {
      own =
          byRequest.getOrDefault(request, List.of()).stream()
              .filter(effect -> effect.tenant.equals(tenant) && effect.subject.equals(subject))
              .toList();
    }
    if (own.isEmpty()) {
      throw new WritException(GatewayError.NOT_CANCELLED, "nothing runs for " + request);
    }
    own.forEach(Effect::cancel);
    elsewhere.cancel(request, tenant, subject);
  }

  /**
   * Stops these tools: their running calls are cancelled, and the receipts state that.
   *
   * @param tools tells by name and version whether a tool must not run
   */
  public void prohibit(BiPredicate<String, String> tools) {
    List<Effect> all;
    synchronized (byRequest) {
      prohibited = tools;
      all = byRequest.values().stream().flatMap(List::stream).toList();
    }
    all.forEach(effect -> effect.cancelIf(tools));
  }

  /** Wraps a driver so that its work can be cancelled. */
  public Driver cancellable(Driver driver) {
    return new Driver() {
      @Override
      public String name() {
        return driver.name();
      }

      @Override
      public Determinism determinism() {
        return driver.determinism();
      }

      @Override
      public Digest sandboxProfile(String profile) {
        return driver.sandboxProfile(profile);
      }

      @Override
      public Optional<LanguageRuntime> runtime(ToolManifest manifest) {
        return driver.runtime(manifest);
      }

      @Override
      public void closed(String tenant, String run) {
        driver.closed(tenant, run);
      }

      @Override
      public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
        return prepare(manifest, operation, content, HostTerms.NONE);
      }

      @Override
      public Prepared prepare(
          ToolManifest manifest, String operation, PackageContent content, HostTerms host) {
        Prepared prepared = driver.prepare(manifest, operation, content, host);
        return invocation -> run(manifest, prepared, invocation);
      }

      @Override
      public Prepared prepare(
          ToolManifest manifest,
          String operation,
          PackageContent content,
          HostTerms host,
          ExpectedCall call) {
        Prepared prepared = driver.prepare(manifest, operation, content, host, call);
        return invocation -> run(manifest, prepared, invocation);
      }
    };
  }

  private DriverOutcome run(
      ToolManifest manifest, Driver.Prepared prepared, Invocation invocation) {
    Effect effect = current.get();
    if (effect == null) {
      return prepared.run(invocation);
    }
    effect.enter(manifest);
    synchronized (byRequest) { // it may have passed its checks before a revocation
      effect.cancelIf(prohibited);
    }
    Optional<DriverOutcome> outcome = Optional.empty();
    effect.observer.begins(effect.request, manifest);
    try {
      outcome =
          Optional.of(
              prepared.run(
                  effect.observer == ToolObserver.NONE
                      ? invocation
                      : invocation.of(invocation.call().observedBy(effect.observer))));
      return outcome.get();
    } finally {
      effect.leave();
      effect.observer.ends(outcome);
    }
  }
}
