package dev.writ.guardian.profile;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of the surfaces' profiles, beside seed 000's own codes ({@link RejectionCode}). */
public enum ProfileError implements ErrorCode {
  BODY_MISSING(
      "GRD-701",
      "a request of a surface with a profile came without what the profile reads",
      "Send it through that surface, with the body whose digest origin.raw names."),
  NOT_THE_EFFECT(
      "GRD-702",
      "the request is not what the surface's body asks for",
      "Ask for exactly the effect that the profile maps the body to."),

  COMMAND_BODY(
      "GRD-711", "the body is not a tool request", "Send the fields of spec/surface-tools.md."),
  COMMAND_ROLE(
      "GRD-712", "the role is not one of the subject's", "Name a role that the subject has."),
  COMMAND_LINE("GRD-713", "the command line cannot be read", "Close its quotes."),
  COMMAND_NOT_ALLOWED(
      "GRD-714", "the role may not run this command", "Use a command that the role allows."),
  COMMAND_SHELL(
      "GRD-715",
      "the command needs a shell, and the role has none",
      "Send one plain command, with special characters in single quotes."),
  COMMAND_CWD(
      "GRD-716", "the directory is not under the workspace root", "Use one under that root."),
  COMMAND_ENVIRONMENT("GRD-717", "an environment variable is not allowed", "Leave it out of env."),
  COMMAND_LIMIT(
      "GRD-718",
      "more resources are requested than the role may use",
      "Request less; see the role's limits."),
  COMMAND_NONE("GRD-719", "policy has no commands section", "Add one: spec/policy.md, Commands.");

  private final Entry entry;

  ProfileError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
