package dev.writ.tools.author;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.wasm.WasmDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The static validation of a package: {@code writ tool lint} shows its findings to authors, and
 * registration refuses packages with findings. It reads code without running it; what code does at
 * run time is confined by the sandbox.
 */
public final class Lint {
  private final SortedMap<Language, Scanner> scanners;

  /**
   * @param scanners for the languages whose code is read
   */
  public Lint(SortedMap<Language, Scanner> scanners) {
    this.scanners = new TreeMap<>(scanners);
  }

  /** All findings, in the order of the checks; empty for a good package. */
  public List<LintFinding> check(ToolProject project) {
    List<LintFinding> findings = new ArrayList<>();
    ToolSource source = project.source();
    for (String name : List.of(source.tool(), source.version())) {
      if (!name.matches("[a-z0-9][a-z0-9._-]{0,63}")) {
        findings.add(new LintFinding(ToolsError.TOOL_NAME, ToolSource.FILE, "\"" + name + "\""));
      }
    }
    if (!project.files().containsKey(source.entry())) {
      findings.add(
          new LintFinding(ToolsError.ENTRY_MISSING, ToolSource.FILE, "entry " + source.entry()));
    }
    List<String> endings = source.language().sources();
    if (!endings.isEmpty() && !source.language().isSource(source.entry())) {
      findings.add(
          new LintFinding(
              ToolsError.ENTRY_FORM,
              ToolSource.FILE,
              "entry " + source.entry() + ", a source ends with one of " + endings));
    }
    findings.addAll(SourceForm.check(source.language(), source.compiled(), project.files()));
    findings.addAll(project.lock().check(project.files()));
    collect(
        findings,
        ToolSource.FILE,
        () -> source.language().requireSupported(RuntimeRange.of(source.runtime())));
    ToolManifest manifest = project.manifest();
    collect(findings, ToolSource.FILE, () -> ToolSchemas.requireWellFormed(manifest));
    if (source.language().equals(Language.WASM) && project.files().containsKey(source.entry())) {
      collect(
          findings,
          source.entry(),
          () -> WasmDriver.checkModule(manifest, project.files().get(source.entry())));
    }
    collect(findings, "code", () -> findings.addAll(references(project)));
    return List.copyOf(findings);
  }

  private List<LintFinding> references(ToolProject project) {
    Scanner scanner = scanners.get(project.source().language());
    if (scanner == null) {
      return List.of();
    }
    TreeMap<String, byte[]> code = new TreeMap<>(project.files());
    code.keySet().removeIf(path -> !project.source().language().isSource(path));
    Modules modules = new Modules(project);
    List<LintFinding> findings = new ArrayList<>();
    for (Reference reference : scanner.scan(code)) {
      modules
          .refusal(reference)
          .ifPresent(why ->
              findings.add(new LintFinding(ToolsError.MODULE_PROHIBITED, reference.place(), why)));
    }
    return findings;
  }

  private static void collect(List<LintFinding> findings, String place, Runnable check) {
    try {
      check.run();
    } catch (WritException refused) {
      findings.add(LintFinding.of(place, refused));
    }
  }

  /**
   * The same, for registration.
   *
   * @throws WritException with the first finding
   */
  public void require(ToolProject project) {
    List<LintFinding> findings = check(project);
    if (!findings.isEmpty()) {
      throw findings.getFirst().refusal();
    }
  }

  /** For {@code --json}. */
  public static JsonValue toJson(List<LintFinding> findings) {
    return JsonValue.of(findings.stream().<JsonValue>map(LintFinding::toJson).toList());
  }
}
