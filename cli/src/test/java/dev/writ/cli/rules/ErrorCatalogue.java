package dev.writ.cli.rules;

import com.tngtech.archunit.core.domain.JavaClass;
import dev.writ.canonicalize.ErrorCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** All error codes of the project, and the page that lists them. */
public final class ErrorCatalogue {
  private static final String HEAD =
      """
      # Error catalogue

      Every refusal is a `WritException` with one of these codes; a code is never reused for
      something else. The message reads `CODE meaning: what was found. Remedy`, and with `--json`
      the command line prints `{"error":{"code":…,"found":…,"meaning":…,"remedy":…}}` on stderr.
      Written from the enums by `mvn test -pl cli -am -Dtest=ErrorCatalogueTest -Dwrit.update=true
      -Dsurefire.failIfNoSpecifiedTests=false`; a test compares.
      """;

  private ErrorCatalogue() {}

  /** One enum of codes. */
  public record Section(String module, Class<?> type, List<ErrorCode> codes) {}

  /** The enums that implement {@link ErrorCode}, sorted by their first code. */
  public static List<Section> sections() {
    List<Section> sections = new ArrayList<>();
    for (JavaClass c : Project.classes()) {
      if (c.isEnum() && c.isAssignableTo(ErrorCode.class)) {
        Class<?> type = c.reflect();
        List<ErrorCode> codes = new ArrayList<>();
        for (Object constant : type.getEnumConstants()) {
          codes.add((ErrorCode) constant);
        }
        codes.sort(Comparator.comparing(ErrorCode::code));
        sections.add(new Section(c.getPackageName().split("\\.")[2], type, codes));
      }
    }
    sections.sort(Comparator.comparing(s -> s.codes().getFirst().code()));
    return sections;
  }

  static String page(List<Section> sections) {
    StringBuilder out = new StringBuilder(HEAD);
    for (Section section : sections) {
      out.append("\n## ")
          .append(section.module())
          .append(" (`")
          .append(section.type().getSimpleName())
          .append("`)\n\n| code | meaning | what to do |\n|---|---|---|\n");
      for (ErrorCode code : section.codes()) {
        out.append("| ")
            .append(code.code())
            .append(" | ")
            .append(cell(code.meaning()))
            .append(" | ")
            .append(cell(code.remedy()))
            .append(" |\n");
      }
    }
    return out.toString();
  }

  private static String cell(String text) {
    return text.replace("|", "\\|");
  }

  static Path file() {
    return Project.root().resolve("spec/errors.md");
  }
}
