package dev.writ.sinks.incident;

/** Seed 002's alerts, as a single event of the journal shows them (spec/incidents.md). */
public enum Alert {
  ConsecutiveFailures("several executions of the run in a row have failed"),
  ExcessiveResources("the tool used most of what it had declared"),
  SuspiciousCommands("several commands of the subject in the run were refused"),
  SandboxFailures("sandboxes could not be made, or their rules were broken");

  private final String meaning;

  Alert(String meaning) {
    this.meaning = meaning;
  }

  String meaning() {
    return meaning;
  }
}
