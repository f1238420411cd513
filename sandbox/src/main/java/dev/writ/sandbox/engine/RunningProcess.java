package dev.writ.sandbox.engine;

import dev.writ.sandbox.cgroup.Cgroup;
import dev.writ.sandbox.cgroup.Counters;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Collection;
import java.util.concurrent.TimeUnit;

/** A process of the host, and its descendants. */
final class RunningProcess implements RunningCommand {
  private final Process process;
  private final Confinement c;
  private final Launcher launcher;
  private final Tree tree;

  RunningProcess(Process process, Confinement c, Launcher launcher) {
    this.process = process;
    this.c = c;
    this.launcher = launcher;
    this.tree = new Tree(process, c.cgroup());
  }

  @Override
  public OutputStream stdin() {
    return process.getOutputStream();
  }

  @Override
  public InputStream stdout() {
    return process.getInputStream();
  }

  @Override
  public InputStream stderr() {
    return process.getErrorStream();
  }

  @Override
  public boolean awaitEnd(long ms) throws InterruptedException {
    return process.waitFor(ms, TimeUnit.MILLISECONDS);
  }

  @Override
  public Counters counters() {
    return c.cgroup().map(Cgroup::counters).orElse(Counters.NONE);
  }

  @Override
  public Collection<Long> pids() {
    return tree.members();
  }

  @Override
  public void terminate() {
    tree.terminate();
  }

  @Override
  public void kill() {
    tree.kill();
  }

  @Override
  public ExitStatus exit() throws InterruptedException {
    return ExitStatus.of(process.waitFor());
  }

  @Override
  public boolean ran() {
    try {
      return launcher.ran(Files.readString(c.statusFile(), StandardCharsets.ISO_8859_1));
    } catch (IOException e) {
      return launcher.ran("");
    }
  }

  @Override
  public void close() {
    tree.kill();
  }
}
