package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.RunWorkspaces;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Workspaces in memory: each is a text, which outlives kernels as a directory would. */
public final class TestWorkspaces implements RunWorkspaces {
  /** A wipe that was asked for, and whether there was something. */
  public record Wiped(String tenant, String run, String reason, Instant at, boolean there) {}

  private final TreeMap<String, String> trees = new TreeMap<>();
  private final List<Wiped> wiped = new ArrayList<>();
  private final List<Instant> expired = new ArrayList<>();
  private Optional<Throwable> failure = Optional.empty();
  private long measures;

  /** What a tool does in its run's workspace. */
  public synchronized void write(String tenant, String run, String text) {
    trees.merge(tenant + "/" + run, text, String::concat);
  }

  public void write(Invocation invocation, String text) {
    write(invocation.scope().tenant(), invocation.scope().run(), text);
  }

  public synchronized String read(String tenant, String run) {
    return trees.getOrDefault(tenant + "/" + run, "");
  }

  /** The digest that a tree with this text has. */
  public static Digest digest(String text) {
    return Digest.sha256(text.getBytes(StandardCharsets.UTF_8));
  }

  /** From now on nothing can be measured or wiped; null ends that. */
  public synchronized void fails(Throwable with) {
    failure = Optional.ofNullable(with);
  }

  @Override
  public synchronized Digest treeDigest(String tenant, String run) {
    measures++;
    fail();
    return digest(read(tenant, run));
  }

  @Override
  public synchronized void wipe(String tenant, String run, String reason, Instant at) {
    fail();
    boolean there = trees.remove(tenant + "/" + run) != null;
    wiped.add(new Wiped(tenant, run, reason, at, there));
  }

  @Override
  public synchronized void wipeExpired(Instant now) {
    expired.add(now);
    fail();
  }

  private void fail() {
    switch (failure.orElse(null)) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new IllegalStateException(e);
    }
  }

  public synchronized List<Wiped> wiped() {
    return List.copyOf(wiped);
  }

  /** When a kernel asked for those whose time is over. */
  public synchronized List<Instant> expired() {
    return List.copyOf(expired);
  }

  public synchronized long measures() {
    return measures;
  }
}
