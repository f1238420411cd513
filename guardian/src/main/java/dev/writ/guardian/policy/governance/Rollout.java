package dev.writ.guardian.policy.governance;

import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What governance adds to a policy at one moment: tools that were submitted, versions that are
 * prohibited, language runtimes that are approved. It is not part of the policy's document. Tools
 * that the policy does not let govern are ignored.
 */
public final class Rollout {
  /** Nothing was ever submitted. */
  public static final Rollout NOTHING =
      new Rollout(new TreeMap<>(), new TreeSet<>(), new TreeSet<>());

  private final SortedMap<String, ApprovedTool> tools;
  private final SortedSet<String> prohibited;
  private final SortedSet<String> runtimes;

  private Rollout(
      SortedMap<String, ApprovedTool> tools,
      SortedSet<String> prohibited,
      SortedSet<String> runtimes) {
    this.tools = Collections.unmodifiableSortedMap(tools);
    this.prohibited = Collections.unmodifiableSortedSet(prohibited);
    this.runtimes = Collections.unmodifiableSortedSet(runtimes);
  }

  /**
   * @param tools of any stage
   * @param prohibited {@code name version}
   * @param runtimes {@code language version}
   */
  public static Rollout of(
      Collection<ApprovedTool> tools, Collection<String> prohibited, Collection<String> runtimes) {
    TreeMap<String, ApprovedTool> byKey = new TreeMap<>();
    tools.forEach(tool -> byKey.put(tool.key(), tool));
    return new Rollout(byKey, new TreeSet<>(prohibited), new TreeSet<>(runtimes));
  }

  public SortedMap<String, ApprovedTool> tools() {
    return tools;
  }

  public Optional<ApprovedTool> tool(String name, String version) {
    return Optional.ofNullable(tools.get(ApprovedTool.key(name, version)));
  }

  public boolean prohibits(ApprovedTool tool) {
    return prohibited.contains(tool.ref().name() + " " + tool.ref().version());
  }

  public boolean approvesRuntime(String language, String version) {
    return runtimes.contains(language + " " + version);
  }
}
