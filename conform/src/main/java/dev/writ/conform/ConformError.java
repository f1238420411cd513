package dev.writ.conform;

import dev.writ.canonicalize.ErrorCode;

/** The refusals of this module. */
public enum ConformError implements ErrorCode {
  VECTORS_MISSING(
      "CNF-001", "there are no golden vectors there", "Name their folder with --vectors."),
  INDEX_MALFORMED(
      "CNF-002",
      "the index of the golden vectors is malformed",
      "Restore index.json from the release."),
  VECTOR_CHANGED(
      "CNF-003",
      "a golden vector is not what the index says",
      "Restore it; a change on purpose is written down with `writ conform index`."),
  VECTOR_UNLISTED(
      "CNF-004",
      "a golden vector is not in the index",
      "Remove it, or write the index again with `writ conform index`."),
  VECTOR_MALFORMED(
      "CNF-005", "a golden vector is malformed", "Write it as golden-vectors/README.md says."),
  NOTHING_RUN("CNF-006", "no vector was run", "Name a suite and a profile that have vectors."),
  COMMAND("CNF-010", "the implementation's command cannot be started", "Check the command."),
  SUBJECT(
      "CNF-011",
      "the statement cannot name the tested implementation",
      "Name the implementation's file with --artifact."),

  LINE("CNF-021", "a line of the adapter protocol is malformed", "See spec/conformance.md."),
  LINE_TOO_LONG(
      "CNF-022", "a line of the adapter protocol is too long", "See spec/conformance.md."),
  SCENARIO(
      "CNF-023", "a scenario cannot be played", "Correct the vector: see spec/conformance.md.");

  private final Entry entry;

  ConformError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
