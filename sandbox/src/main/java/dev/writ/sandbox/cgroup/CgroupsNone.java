package dev.writ.sandbox.cgroup;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.util.List;
import java.util.Optional;

/** A host whose cgroups this process cannot use. */
record CgroupsNone() implements Cgroups {
  @Override
  public String describe() {
    return "no cgroups that can be used";
  }

  @Override
  public int version() {
    return 0;
  }

  @Override
  public boolean limitsMemory() {
    return false;
  }

  @Override
  public boolean limitsPids() {
    return false;
  }

  @Override
  public boolean limitsCpu() {
    return false;
  }

  @Override
  public boolean measures() {
    return false;
  }

  @Override
  public Cgroup create(String name, CgroupLimits limits) {
    throw new WritException(SandboxError.HOST, describe());
  }

  @Override
  public Cgroup existing(String name) {
    return new Cgroup(name, List.of(), Optional.empty(), Optional.empty(), () -> Counters.NONE);
  }

  @Override
  public Cgroup ofProcess(String text) {
    return existing("");
  }

  @Override
  public List<String> names() {
    return List.of();
  }
}
