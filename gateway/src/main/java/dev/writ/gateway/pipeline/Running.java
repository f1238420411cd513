package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.HostTerms;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

/**
 * The effects that tools work at now, so that they can be cancelled. Only the tool's own work is
 * interrupted: what the kernel does before and after it is not, so every cancelled effect ends in
 * its receipt.
 */
public final class Running {
  private final ThreadLocal<Effect> current = new ThreadLocal<>();
  private final TreeMap<Digest, Effect> byRequest = new TreeMap<>();
  private BiPredicate<String, String> prohibited = (_, _) -> false;

  /** One request's passage through the kernel. */
  private static final class Effect {
    final String tenant;
    final String subject;
    private Thread inTool;
    private ToolManifest tool;
    private boolean cancelled;

    Effect(String tenant, String subject) {
      this.tenant = tenant;
      this.subject = subject;
    }

    synchronized void enter(ToolManifest manifest) {
      inTool = Thread.currentThread();
      tool = manifest;
      if (cancelled) {
        inTool.interrupt();
      }
    }

    /** From here on nothing interrupts; an interrupt that came at the last moment is taken back. */
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

    /** Ends it where it is a tool that must not run any more. */
    synchronized void cancelIf(BiPredicate<String, String> prohibited) {
      if (inTool != null && prohibited.test(tool.name(), tool.version())) {
        cancel();
      }
    }
  }

  /** Does a request's work as cancellable. */
  public <T> T during(Digest request, String tenant, String subject, Supplier<T> work) {
    Effect effect = new Effect(tenant, subject);
    boolean first;
    synchronized (byRequest) {
      first = byRequest.putIfAbsent(request, effect) == null; // others wait for it in the kernel
    }
    current.set(effect);
    try {
      return work.get();
    } finally {
      current.remove();
      if (first) {
        synchronized (byRequest) {
          byRequest.remove(request);
        }
      }
    }
  }

  /**
   * Asks that a request's effect end. Its receipt says how it ended: {@code killed}, or as it did
   * where it was faster.
   *
   * @throws WritException {@code GWY-041} where no effect of that request runs for this subject
   */
  public void cancel(Digest request, String tenant, String subject) {
    Effect effect;
    synchronized (byRequest) {
      effect = byRequest.get(request);
    }
    if (effect == null || !effect.tenant.equals(tenant) || !effect.subject.equals(subject)) {
      throw new WritException(GatewayError.NOT_CANCELLED, "nothing runs for " + request);
    }
    effect.cancel();
  }

  /**
   * Stops these tools: running calls are cancelled, and their receipts say so.
   *
   * @param tools tells by name and version whether a tool must not run
   */
  public void prohibit(BiPredicate<String, String> tools) {
    List<Effect> all;
    synchronized (byRequest) {
      prohibited = tools;
      all = List.copyOf(byRequest.values());
    }
    all.forEach(effect -> effect.cancelIf(tools));
  }

  /** A driver whose work can be cancelled, otherwise as it is. */
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
      public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
        return prepare(manifest, operation, content, HostTerms.NONE);
      }

      @Override
      public Prepared prepare(
          ToolManifest manifest, String operation, PackageContent content, HostTerms host) {
        Prepared prepared = driver.prepare(manifest, operation, content, host);
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
    synchronized (byRequest) { // it was let through before a revocation, and comes after it
      effect.cancelIf(prohibited);
    }
    try {
      return prepared.run(invocation);
    } finally {
      effect.leave();
    }
  }
}
