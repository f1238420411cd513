package dev.writ.guardian.profile;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.seed.CommandLine;
import dev.writ.guardian.policy.seed.CommandProfile;
import dev.writ.guardian.policy.seed.CommandRole;
import dev.writ.guardian.policy.seed.WorkspacePaths;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The policy engine of seed 002 as a pure function: role, command, directory, environment, limits,
 * in this order. A value over a limit is refused, never reduced. A request that passes is mapped to
 * one effect (spec/surface-tools.md).
 */
public final class CommandAdmission {
  /** The surface's name. */
  public static final String PROFILE = "tools";

  /** Prefixes of variables that change what a program loads, whatever policy lists. */
  private static final List<String> LOADER = List.of("LD_", "DYLD_", "GLIBC_", "BASH_FUNC_");

  /** Without an equals sign, behind which a value would be. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._/+@-]{1,64}");

  private static final long MIB = 1L << 20;

  private final CommandRequest request;
  private final CommandProfile profile;
  private final CommandRole role;

  private CommandAdmission(CommandRequest request, CommandProfile profile, CommandRole role) {
    this.request = request;
    this.profile = profile;
    this.role = role;
  }

  /**
   * @param request the request that was admitted
   * @param program the first word of the command: a shell if the line needs one
   */
  public record Admitted(CommandRequest request, Effect effect, String program) {}

  /**
   * @throws WritException {@code GRD-71x}, the first that refuses
   */
  public static Admitted admit(byte[] body, ExecuteAdmission.Asker asker, Policy policy) {
    CommandRequest request = CommandRequest.parse(body);
    CommandProfile profile =
        policy
            .commands()
            .orElseThrow(() -> new WritException(ProfileError.COMMAND_NONE, policy.name()));
    Optional<CommandRole> role = Optional.ofNullable(profile.roles().get(request.role()));
    if (role.isEmpty()
        || !policy.rolesOf(asker.tenant(), asker.subject()).contains(request.role())) {
      throw new WritException(
          ProfileError.COMMAND_ROLE,
          asker.subject()
              + (role.isEmpty() ? " names a role without commands: " : " does not have ")
              + plainly(request.role()));
    }
    if (asker.credential().filter(roles -> !roles.contains(request.role())).isPresent()) {
      throw new WritException(ProfileError.COMMAND_ROLE, "the credential is for other roles");
    }
    return new CommandAdmission(request, profile, role.get()).admit();
  }

  private Admitted admit() {
    List<String> argv = argv();
    String cwd = cwd();
    environment();
    Resources resources = resources();
    String program = argv.getFirst();
    TreeMap<String, JsonValue> values = new TreeMap<>();
    values.put("$argv", JsonValue.of(argv.stream().map(JsonValue::of).toList()));
    values.put("$commands", JsonValue.of(role.commands().stream().map(JsonValue::of).toList()));
    values.put("$cpu_milli", JsonValue.of(cpuMilli()));
    values.put("$cwd", JsonValue.of(cwd));
    values.put("$env", env());
    profile.image(program).ifPresent(image -> values.put("$image", JsonValue.of(image)));
    Effect effect =
        new Effect(
            profile.effect().tool(),
            profile.effect().version(),
            profile.effect().operation(),
            profile.effect().fill(values),
            List.of(),
            resources,
            profile.sandbox(),
            Optional.empty());
    return new Admitted(request, effect, program);
  }

  /** The words to run: those of a plain line, or the role's shell with the whole line. */
  private List<String> argv() {
    CommandLine line =
        CommandLine.parse(request.cmd())
            .orElseThrow(
                () -> new WritException(ProfileError.COMMAND_LINE, "a quote is not closed"));
    if (line.needsShell().isPresent()) {
      String shell =
          CommandRole.SHELLS.stream()
              .filter(role.commands()::contains)
              .findFirst()
              .orElseThrow(() ->
                  new WritException(
                      ProfileError.COMMAND_SHELL,
                      "role "
                          + role.name()
                          + ", character U+"
                          + String.format(Locale.ROOT, "%04X", (int) line.needsShell().get())));
      return List.of(shell, "-c", request.cmd());
    }
    if (!role.commands().contains(line.words().getFirst())) {
      throw new WritException(
          ProfileError.COMMAND_NOT_ALLOWED,
          plainly(line.words().getFirst()) + ": role " + role.name() + " has " + role.commands());
    }
    return line.words();
  }

  private String cwd() {
    String asked = request.cwd().orElse(profile.workspaceRoot());
    String cwd =
        profile
            .underRoot(asked)
            .orElseThrow(() ->
                new WritException(
                    ProfileError.COMMAND_CWD,
                    plainly(asked) + ": the root is " + profile.workspaceRoot()));
    if (role.paths().filter(paths -> !WorkspacePaths.isUnder(cwd, paths)).isPresent()) {
      throw new WritException(
          ProfileError.COMMAND_CWD,
          plainly(asked) + ": role " + role.name() + " has " + role.paths().get());
    }
    return cwd;
  }

  private void environment() {
    request
        .env()
        .forEach((name, value) -> {
          boolean sensitive =
              SecretLike.name(name)
                  || SecretLike.text(value)
                  || LOADER.stream().anyMatch(name::startsWith);
          if (sensitive || !role.environment().contains(name)) {
            throw new WritException(
                ProfileError.COMMAND_ENVIRONMENT,
                plainly(name)
                    + (sensitive
                        ? " is sensitive"
                        : ": role " + role.name() + " has " + role.environment()));
          }
        });
  }

  /** What a caller wrote, unless it is long or may be a secret that stands in the wrong place. */
  private static String plainly(String written) {
    return PLAIN.matcher(written).matches() && !SecretLike.text(written)
        ? "\"" + written + "\""
        : "what is named";
  }

  private JsonValue.Obj env() {
    var env = JsonValue.object();
    request.env().forEach(env::put);
    return env.build();
  }

  private long cpuMilli() {
    return request.cpuMilli().orElse(role.cpuMilli());
  }

  private Resources resources() {
    long memMb = within("mem_mb", request.memMb().orElse(role.memMb()), role.memMb());
    long timeout =
        within("timeout_sec", request.timeoutSec().orElse(role.timeoutSec()), role.timeoutSec());
    long cpu = within("cpu, in thousandths,", cpuMilli(), role.cpuMilli());
    long wallMs = timeout * 1000;
    return new Resources(
        ExecuteAdmission.cpuMs(cpu, wallMs), memMb * MIB, profile.outputBytes(), wallMs);
  }

  private long within(String what, long asked, long most) {
    if (asked > most) {
      throw new WritException(
          ProfileError.COMMAND_LIMIT,
          what + " is " + asked + ", role " + role.name() + " has " + most);
    }
    return asked;
  }
}
