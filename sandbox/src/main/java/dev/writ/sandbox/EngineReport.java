package dev.writ.sandbox;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.error.SandboxError;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * An engine and its guarantees on this host, as {@code writ doctor} shows them.
 *
 * @param missing commands that it needs and that are missing; empty if it can run
 * @param holdings every guarantee, in the order of {@link Guarantee}
 * @param advice what an operator should know of this version, one sentence each
 */
public record EngineReport(
    String name,
    String version,
    List<Missing> missing,
    SortedMap<Guarantee, Holding> holdings,
    List<String> advice) {
  public EngineReport {
    missing = List.copyOf(missing);
    advice = List.copyOf(advice);
    holdings = Collections.unmodifiableSortedMap(new TreeMap<>(holdings));
  }

  public EngineReport(
      String name, String version, List<Missing> missing, SortedMap<Guarantee, Holding> holdings) {
    this(name, version, missing, holdings, List.of());
  }

  /**
   * A missing requirement.
   *
   * @param command a program, or a service's socket
   * @param packageName the Debian package that contains it; empty if it is installed but not
   *     started
   * @param start the command that starts it, if it must be started; otherwise empty
   */
  public record Missing(String command, String packageName, String start) {
    public Missing(String command, String packageName) {
      this(command, packageName, "");
    }
  }

  /**
   * @param how the mechanism that gives the guarantee, or why it is not given
   */
  public record Holding(boolean held, String how) {}

  public boolean available() {
    return missing.isEmpty();
  }

  /**
   * @throws WritException {@code SBX-002} where a command is missing
   */
  public void requireAvailable() {
    if (!available()) {
      throw new WritException(SandboxError.ENGINE_MISSING, name + ": " + install());
    }
  }

  /** How to get what is missing, as one command. */
  public String install() {
    List<String> packages =
        missing.stream()
            .map(Missing::packageName)
            .filter(p -> !p.isEmpty())
            .distinct()
            .sorted()
            .toList();
    List<String> steps = new ArrayList<>();
    if (!packages.isEmpty()) {
      steps.add(DebianPackages.install(packages));
    }
    missing.stream().map(Missing::start).filter(s -> !s.isEmpty()).distinct().forEach(steps::add);
    return String.join(" && ", steps);
  }

  /** Guarantees that a sandbox needs and that are not given here. */
  public List<Guarantee> shortfalls() {
    List<Guarantee> result = new ArrayList<>();
    holdings.forEach((guarantee, holding) -> {
      if (guarantee.required() && !holding.held()) {
        result.add(guarantee);
      }
    });
    return List.copyOf(result);
  }

  /**
   * Those of them that a caller has not waived, or that cannot be waived.
   *
   * @param waived the guarantees that it waives
   */
  public List<Guarantee> shortfalls(List<Guarantee> waived) {
    return shortfalls().stream().filter(g -> !g.waivable() || !waived.contains(g)).toList();
  }

  /**
   * Refuses if guarantees that the caller has not waived are not given here; the refusal says what
   * a policy would have to waive.
   *
   * @throws WritException {@code SBX-003}
   */
  public void requireHeld(List<Guarantee> waived) {
    if (!shortfalls(waived).isEmpty()) {
      throw new WritException(SandboxError.NOT_ENFORCED, lacks(waived));
    }
  }

  /**
   * The guarantees that are not given for a caller, and what a policy would have to waive to accept
   * that.
   */
  public String lacks(List<Guarantee> waived) {
    String missing = name + " does not hold " + words(shortfalls(waived));
    List<Guarantee> never = shortfalls().stream().filter(g -> !g.waivable()).toList();
    return never.isEmpty()
        ? missing
            + "; a policy that accepts it says sandbox: { waived: "
            + words(shortfalls())
            + " }"
        : missing + "; no policy can accept that it lacks " + words(never);
  }

  private static String words(List<Guarantee> guarantees) {
    return guarantees.stream().map(Guarantee::text).toList().toString();
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("version", version)
        .put("available", available())
        .putList("advice", advice, JsonValue::of)
        .put("install", install())
        .putList(
            "missing",
            missing,
            m ->
                JsonValue.object()
                    .put("command", m.command())
                    .put("package", m.packageName())
                    .build())
        .putList(
            "guarantees",
            List.copyOf(holdings.entrySet()),
            e ->
                JsonValue.object()
                    .put("name", e.getKey().text())
                    .put("held", e.getValue().held())
                    .put("how", e.getValue().how())
                    .build())
        .build();
  }
}
