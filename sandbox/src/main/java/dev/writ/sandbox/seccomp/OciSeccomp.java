package dev.writ.sandbox.seccomp;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** The same table as the {@code linux.seccomp} of an OCI runtime configuration. */
public final class OciSeccomp {
  private static final long LOW_HALF = 0xFFFFFFFFL;
  private static final int EPERM = 1;
  private static final int NOSYS = 38;

  /**
   * System calls since Linux 4.11, and some that we removed: programs try them and work without.
   */
  private static final List<String> TRIED =
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
          "io_setup",
          "landlock_add_rule",
          "landlock_create_ruleset",
          "landlock_restrict_self",
          "listmount",
          "lsm_get_self_attr",
          "lsm_list_modules",
          "lsm_set_self_attr",
          "map_shadow_stack",
          "memfd_create",
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

  public static JsonValue.Obj of(Architecture architecture, SystemCalls.Rules rules) {
    return profile(SystemCalls.of(architecture, rules), architecture, List.of());
  }

  /**
   * The same for a service, which may ignore {@code defaultErrnoRet} and answer EPERM for calls
   * that are not listed. C libraries fall back only on ENOSYS, so calls that are newer than those
   * libraries are listed by name.
   */
  public static JsonValue.Obj forServices(Architecture architecture, SystemCalls.Rules rules) {
    TreeSet<String> absent = new TreeSet<>(TRIED);
    List<SystemCall> calls = SystemCalls.of(architecture, rules);
    calls.forEach(call -> absent.remove(call.name()));
    return profile(calls, architecture, List.of(answer(List.copyOf(absent), NOSYS, List.of())));
  }

  private static JsonValue.Obj profile(
      List<SystemCall> calls, Architecture architecture, List<JsonValue> further) {
    List<JsonValue> rules = new ArrayList<>(further);
    List<String> allowed = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    List<String> killed = new ArrayList<>();
    for (SystemCall call : calls) {
      switch (call.verdict()) {
        case SystemCall.Allow _ -> allowed.add(call.name());
        case SystemCall.Refuse _ -> refused.add(call.name());
        case SystemCall.Kill _ -> killed.add(call.name());
        default -> rules.addAll(conditional(call));
      }
    }
    rules.add(rule(allowed, "SCMP_ACT_ALLOW", List.of()));
    rules.add(answer(refused, EPERM, List.of()));
    rules.add(rule(killed, "SCMP_ACT_KILL_PROCESS", List.of()));
    return JsonValue.object()
        .put("defaultAction", "SCMP_ACT_ERRNO")
        .put("defaultErrnoRet", NOSYS)
        .putList("architectures", List.of(architecture.oci()), JsonValue::of)
        .put("syscalls", JsonValue.of(rules))
        .build();
  }

  /**
   * A rule of libseccomp applies if all its comparisons are true, with at most one comparison for
   * each argument. So a condition becomes a list of alternative masked comparisons, and each rule
   * takes one from every list.
   */
  private static List<JsonValue> conditional(SystemCall call) {
    List<String> name = List.of(call.name());
    List<JsonValue> rules = new ArrayList<>();
    switch (call.verdict()) {
      case SystemCall.AllowWhere v ->
          each(v.all()).forEach(all -> rules.add(rule(name, "SCMP_ACT_ALLOW", all)));
      case SystemCall.PassOver v -> {
        each(v.all()).forEach(all -> rules.add(answer(name, 0, all)));
        each(v.allRefused()).forEach(all -> rules.add(answer(name, EPERM, all)));
        // The call is allowed if any condition fails: one rule for each condition that is the first
        // to fail.
        for (int i = 0; i < v.all().size(); i++) {
          List<SystemCall.Condition> where = new ArrayList<>(v.all().subList(0, i));
          List<Integer> values = new ArrayList<>(v.all().get(i).values());
          if (i == v.all().size() - 1) {
            values.addAll(v.refused());
          }
          where.add(new SystemCall.NoneOf(v.all().get(i).argument(), values));
          each(where).forEach(all -> rules.add(rule(name, "SCMP_ACT_ALLOW", all)));
        }
      }
      default -> throw new IllegalStateException(call.name() + " has no condition");
    }
    return rules;
  }

  /** Every combination of one comparison from each condition. */
  private static List<List<JsonValue>> each(List<? extends SystemCall.Condition> conditions) {
    List<List<JsonValue>> choices = List.of(List.of());
    for (SystemCall.Condition condition : conditions) {
      List<List<JsonValue>> longer = new ArrayList<>();
      for (List<JsonValue> choice : choices) {
        for (JsonValue comparison : comparisons(condition)) {
          List<JsonValue> one = new ArrayList<>(choice);
          one.add(comparison);
          longer.add(one);
        }
      }
      choices = longer;
    }
    return choices;
  }

  private static List<JsonValue> comparisons(SystemCall.Condition condition) {
    List<JsonValue> all = new ArrayList<>();
    switch (condition) {
      case SystemCall.OneOf c -> {
        for (int value : c.values()) {
          all.add(masked(c.argument(), LOW_HALF, value & LOW_HALF));
        }
      }
      case SystemCall.Without c -> all.add(masked(c.argument(), c.mask() & LOW_HALF, 0));
      case SystemCall.NoneOf c -> outside(all, c.argument(), c.values(), 31, 0, 0);
    }
    return all;
  }

  /**
   * Adds comparisons that cover all numbers except the values: one for each prefix of bits, from
   * the highest, that no value has.
   *
   * @param mask the bits of the prefix
   * @param beginning the value of the prefix
   */
  private static void outside(
      List<JsonValue> all, int argument, List<Integer> values, int bit, long mask, long beginning) {
    if (values.isEmpty()) {
      all.add(masked(argument, mask, beginning));
    } else if (bit >= 0) {
      long here = 1L << bit;
      for (long set : new long[] {0, here}) {
        List<Integer> left = values.stream().filter(v -> (v & here) == set).toList();
        outside(all, argument, left, bit - 1, mask | here, beginning | set);
      }
    }
  }

  private static JsonValue masked(int argument, long mask, long value) {
    return JsonValue.object()
        .put("index", argument)
        .put("value", mask)
        .put("valueTwo", value)
        .put("op", "SCMP_CMP_MASKED_EQ")
        .build();
  }

  private static JsonValue answer(List<String> names, int errno, List<JsonValue> conditions) {
    var rule =
        JsonValue.object()
            .putList("names", names, JsonValue::of)
            .put("action", "SCMP_ACT_ERRNO")
            .put("errnoRet", errno);
    if (!conditions.isEmpty()) {
      rule.put("args", JsonValue.of(conditions));
    }
    return rule.build();
  }

  private static JsonValue rule(List<String> names, String action, List<JsonValue> conditions) {
    var rule = JsonValue.object().putList("names", names, JsonValue::of).put("action", action);
    if (!conditions.isEmpty()) {
      rule.put("args", JsonValue.of(conditions));
    }
    return rule.build();
  }
}
