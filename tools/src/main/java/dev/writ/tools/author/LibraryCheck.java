package dev.writ.tools.author;

import dev.writ.guardian.policy.governance.ApprovedLibrary;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Compares the libraries that a package carries with those that the policy's governance approves.
 * Libraries are what {@code tool.lock} lists, and every file below {@code vendor/} is in it; the
 * libraries' own metadata must not contradict the lock.
 */
public final class LibraryCheck {
  private LibraryCheck() {}

  /** Everything that is not approved; empty if all is. */
  public static List<LintFinding> check(ToolProject project, List<ApprovedLibrary> approved) {
    List<LintFinding> findings = new ArrayList<>();
    for (ToolLock.Dependency library : project.lock().dependencies()) {
      ApprovedLibrary carried =
          new ApprovedLibrary(library.name(), library.version(), library.digest());
      if (!approved.contains(carried)) {
        findings.add(
            new LintFinding(
                ToolsError.LIBRARY_NOT_APPROVED,
                ToolLock.FILE,
                text(carried) + versions(carried, approved)));
      }
    }
    findings.addAll(misnamed(project));
    if (project.source().language().equals(Language.DOTNET)) {
      findings.addAll(assemblies(project));
    }
    return List.copyOf(findings);
  }

  private static String text(ApprovedLibrary library) {
    return library.name() + " " + library.version() + " " + library.digest();
  }

  private static String versions(ApprovedLibrary carried, List<ApprovedLibrary> approved) {
    List<String> others =
        approved.stream()
            .filter(library -> library.name().equals(carried.name()))
            .map(LibraryCheck::text)
            .toList();
    return others.isEmpty() ? "" : ", approved are " + others;
  }

  /** Assemblies beside the entry, where the runtime looks for libraries. */
  private static List<LintFinding> assemblies(ToolProject project) {
    return project.files().keySet().stream()
        .filter(path -> path.endsWith(".dll") && !path.startsWith(ToolLock.VENDOR))
        .filter(path -> !path.equals(project.source().entry()))
        .map(path ->
            new LintFinding(
                ToolsError.LIBRARY_MISNAMED, path, "is an assembly that no lock can name"))
        .toList();
  }

  /**
   * Metadata below {@code vendor/} that names another library than the lock, and metadata
   * elsewhere: a library in disguise. The {@code package.json} at the top is the tool's own.
   */
  private static List<LintFinding> misnamed(ToolProject project) {
    List<LintFinding> findings = new ArrayList<>();
    SortedMap<String, byte[]> files = new TreeMap<>(project.files());
    files.remove("package.json");
    for (VendorMetadata.Library found : VendorMetadata.find(files)) {
      String place = found.paths().first();
      boolean listed =
          project.lock().dependencies().stream()
              .anyMatch(library ->
                  library.name().equals(found.name())
                      && library.version().equals(found.version())
                      && found.paths().stream().anyMatch(library.files()::containsKey));
      if (!listed) {
        findings.add(
            new LintFinding(
                ToolsError.LIBRARY_MISNAMED,
                place,
                "is of " + found.name() + " " + found.version() + ", which the lock does not say"));
      }
    }
    return findings;
  }
}
