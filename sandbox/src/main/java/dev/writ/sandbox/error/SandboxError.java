package dev.writ.sandbox.error;

import dev.writ.canonicalize.ErrorCode;

/**
 * The refusals of this module. A confined program that fails is no refusal; {@code Ended} reports
 * it.
 */
public enum SandboxError implements ErrorCode {
  NO_ENGINE(
      "SBX-001",
      "there is no engine here that can confine a process",
      "Install one: apt-get install bubblewrap."),
  ENGINE_MISSING(
      "SBX-002", "an engine is not installed", "Install the packages that the message names."),
  NOT_ENFORCED(
      "SBX-003",
      "an engine cannot enforce on this host what is required",
      "Run where it can, or let the policy accept the shortfall by its name."),
  ENGINE_FAILED("SBX-004", "the engine did not start the process", "See the engine's message."),
  STATE_DIRECTORY(
      "SBX-005",
      "the state directory cannot be used",
      "Name a directory of plain ASCII that every user may traverse and that belongs to this"
          + " user alone."),
  STATE_LOCKED(
      "SBX-006",
      "another process uses the state directory",
      "Stop it, or give each process a state directory of its own."),
  HOST("SBX-007", "the host refused a step", "Correct what the message names, and try again."),
  NO_SLOT(
      "SBX-008",
      "every user id of the range runs a sandbox",
      "Wait for one to end, or give a larger range."),
  ENGINE_ANSWER(
      "SBX-009",
      "an engine's answer is malformed, too long or too late",
      "See that the socket is that of a docker or podman service, and look at its log."),

  PROFILE_UNKNOWN(
      "SBX-020", "there is no profile of that name", "Name one that spec/sandbox.md lists."),
  PROFILE_NEEDS_APPROVAL(
      "SBX-021",
      "a profile is for approved requests only",
      "Get the request approved; the caller then says so."),
  SANDBOX_ID(
      "SBX-022",
      "an id is not 1 to 64 of a-z, 0-9 and -, or is in use",
      "Choose another id for the sandbox."),
  SANDBOX_BUSY(
      "SBX-023", "a command runs in the sandbox already", "Wait for its end, or make another."),
  SANDBOX_GONE("SBX-024", "the sandbox was destroyed", "Make another."),
  COMMAND("SBX-025", "a command is malformed", "Send what spec/sandbox.md allows."),
  LIMIT("SBX-026", "a limit is out of range", "Give one that spec/sandbox.md allows."),
  BIND(
      "SBX-027",
      "a bind is not allowed",
      "Bind what exists, to a plain absolute path that is not the sandbox's own."),
  EXECUTABLE_MISSING(
      "SBX-028",
      "an executable does not exist in the sandbox",
      "Install it on the host, or allow it."),
  EGRESS_RULE("SBX-029", "a rule for egress is malformed", "Write host:port."),
  BROKER(
      "SBX-030",
      "a request or credential for the proxy is malformed",
      "Give plain requests, and a credential of at least 8 bytes without control characters."),
  AUTHORITIES(
      "SBX-031",
      "certificates of authorities cannot be read",
      "Give a file of X.509 certificates in PEM."),
  UNSUPPORTED(
      "SBX-033",
      "an engine cannot do what a sandbox or a command needs",
      "Request less, or choose the engine that the message names."),
  IMAGE_REFERENCE(
      "SBX-034",
      "an image is not named by its digest",
      "Name it NAME@sha256:DIGEST; a tag can be moved."),
  IMAGE(
      "SBX-035",
      "an image is not here, or is not one that can be confined",
      "Pull the image by its digest; give one that declares no volumes."),
  EXECUTION_EXISTS(
      "SBX-036",
      "an execution of that name exists already elsewhere",
      "Look at the pod or container that the message names: it ran, or runs, under this very"
          + " intent. It is never run twice."),
  CLUSTER(
      "SBX-037",
      "the cluster did not run a pod",
      "See the message: free or add what no node has, correct the settings, or look at the node."),

  WORKSPACE_NAME(
      "SBX-040",
      "a workspace cannot have that name",
      "Name a tenant and a run that are not empty."),
  WORKSPACE_GONE("SBX-041", "there is no such workspace", "Make it, or name an existing one."),
  WORKSPACE_BUSY("SBX-042", "the workspace is in use", "Wait until no sandbox uses it."),
  PATH_ESCAPES(
      "SBX-043",
      "a path leaves the workspace",
      "Name a path below the workspace that crosses no symbolic link."),
  PATH_MISSING("SBX-044", "there is no such file in the workspace", "Name an existing one."),
  PATH_KIND(
      "SBX-045", "a path is of another kind than it must", "Name one of the kind that is wanted."),
  TREE_LIMIT(
      "SBX-046",
      "a tree has more files, or larger ones, than allowed",
      "Leave less behind, or allow more."),
  ARCHIVE("SBX-047", "an archive is malformed or not safe", "Send a plain ustar archive."),
  WORKSPACES(
      "SBX-048",
      "no more workspaces may exist at once",
      "Close or wipe runs that keep one, wait until theirs expire, or raise WRIT_WORKSPACES_MAX or"
          + " WRIT_WORKSPACES_PER_TENANT_MAX."),
  WORKSPACE_BYTES(
      "SBX-049",
      "the sizes of all workspaces exceed the host's storage",
      "Declare smaller workspaces, wipe some, or give the state directory a larger disk."),

  SERVICE_SETTINGS(
      "SBX-050",
      "the settings of a container service on another host cannot be used",
      "Correct the file that WRIT_DOCKER_REMOTE names, as spec/sandbox-remote.md says."),
  SERVICE_TLS(
      "SBX-051",
      "a container service on another host and this server do not trust each other",
      "See that the service speaks TLS with a certificate for the name in host, of the authority in"
          + " ca and in its time, and that it accepts the certificate that ours shows.");

  private final Entry entry;

  SandboxError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
