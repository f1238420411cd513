package dev.writ.sandbox.seccomp;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** The same table as the {@code linux.seccomp} of an OCI runtime configuration. */
public final class OciSeccomp {
  private static final long LOW_HALF = 0xFFFFFFFFL;
  private static final int NOSYS = 38;

  /** System calls since Linux 4.11, which programs try and do without. */
  private static final List<String> NEWER =
      List.of(
          "cachestat",
          "clone3",
          "close_range",
          "epoll_pwait2",
          "faccessat2",
          "fchmodat2",
          "futex_requeue",
          "futex_wait",
          "futex_waitv",
          "futex_wake",
          "landlock_add_rule",
          "landlock_create_ruleset",
          "landlock_restrict_self",
          "listmount",
          "lsm_get_self_attr",
          "lsm_list_modules",
          "lsm_set_self_attr",
          "map_shadow_stack",
          "memfd_secret",
          "mseal",
          "openat2",
          "pidfd_getfd",
          "pidfd_open",
          "pidfd_send_signal",
          "process_madvise",
          "process_mrelease",
          "rseq",
          "set_mempolicy_home_node",
          "statmount",
          "statx");

  private OciSeccomp() {}

  public static JsonValue.Obj of(Architecture architecture) {
    return profile(architecture, List.of());
  }

  /**
   * The same for a service, which may pass over {@code defaultErrnoRet} and answer EPERM for what
   * is not listed: C libraries would not fall back then. So what is newer than those libraries is
   * listed by name.
   */
  public static JsonValue.Obj forServices(Architecture architecture) {
    TreeSet<String> absent = new TreeSet<>(NEWER);
    SystemCalls.of(architecture).forEach(call -> absent.remove(call.name()));
    return profile(
        architecture,
        List.of(
            JsonValue.object()
                .putList("names", List.copyOf(absent), JsonValue::of)
                .put("action", "SCMP_ACT_ERRNO")
                .put("errnoRet", NOSYS)
                .build()));
  }

  private static JsonValue.Obj profile(Architecture architecture, List<JsonValue> further) {
    List<JsonValue> rules = new ArrayList<>(further);
    List<String> allowed = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    List<String> killed = new ArrayList<>();
    for (SystemCall call : SystemCalls.of(architecture)) {
      switch (call.verdict()) {
        case SystemCall.Allow _ -> allowed.add(call.name());
        case SystemCall.Refuse _ -> refused.add(call.name());
        case SystemCall.Kill _ -> killed.add(call.name());
        default -> rules.addAll(conditional(call));
      }
    }
    rules.add(rule(allowed, "SCMP_ACT_ALLOW", List.of()));
    rules.add(
        JsonValue.object()
            .putList("names", refused, JsonValue::of)
            .put("action", "SCMP_ACT_ERRNO")
            .put("errnoRet", 1)
            .build());
    rules.add(rule(killed, "SCMP_ACT_KILL_PROCESS", List.of()));
    return JsonValue.object()
        .put("defaultAction", "SCMP_ACT_ERRNO")
        .put("defaultErrnoRet", NOSYS)
        .putList("architectures", List.of(architecture.oci()), JsonValue::of)
        .put("syscalls", JsonValue.of(rules))
        .build();
  }

  private static List<JsonValue> conditional(SystemCall call) {
    List<String> name = List.of(call.name());
    List<JsonValue> rules = new ArrayList<>();
    switch (call.verdict()) {
      case SystemCall.AllowValues v -> {
        for (int value : v.values()) {
          rules.add(allow(name, masked(v.argument(), LOW_HALF, value & LOW_HALF)));
        }
      }
      case SystemCall.AllowWithout v ->
          rules.add(allow(name, masked(v.argument(), v.mask() & LOW_HALF, 0)));
      case SystemCall.AllowUnless v -> {
        // libseccomp compares whole arguments only by mask and value, and the kernel looks at the
        // low half: it differs if one of its bits does.
        for (int bit = 0; bit < 32; bit++) {
          long mask = 1L << bit;
          rules.add(allow(name, masked(v.argument(), mask, ~v.value() & mask)));
        }
      }
      default -> throw new IllegalStateException(call.name() + " has no condition");
    }
    return rules;
  }

  private static JsonValue allow(List<String> name, JsonValue condition) {
    return rule(name, "SCMP_ACT_ALLOW", List.of(condition));
  }

  private static JsonValue masked(int argument, long mask, long value) {
    return JsonValue.object()
        .put("index", argument)
        .put("value", mask)
        .put("valueTwo", value)
        .put("op", "SCMP_CMP_MASKED_EQ")
        .build();
  }

  private static JsonValue rule(List<String> names, String action, List<JsonValue> conditions) {
    var rule = JsonValue.object().putList("names", names, JsonValue::of).put("action", action);
    if (!conditions.isEmpty()) {
      rule.put("args", JsonValue.of(conditions));
    }
    return rule.build();
  }
}
