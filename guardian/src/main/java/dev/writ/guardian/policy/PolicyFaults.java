package dev.writ.guardian.policy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.limit.RequestLimits;
import dev.writ.guardian.yaml.FileFault;
import dev.writ.guardian.yaml.Located;
import dev.writ.guardian.yaml.PlainYaml;
import dev.writ.guardian.yaml.Section;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * All faults of a policy's text, by its one parser: after each fault the text is read again without
 * the value at fault. What is then missed around that value is no fault of its own, so that value's
 * parent is left out, too. Names are only checked where every entry can be read.
 */
final class PolicyFaults {
  private static final int FAULTS_MAX = 50;
  private static final int READINGS_MAX = 200;

  /** Of a text of a mebibyte, eight readings. */
  private static final int BYTES_READ_MAX = 8 << 20;

  /** Stands in for what a policy must have, so that the rest can be read. */
  private static final TreeMap<String, JsonValue> REQUIRED = new TreeMap<>();

  static {
    REQUIRED.put("writ_policy", JsonValue.of(1));
    REQUIRED.put("name", JsonValue.of("policy"));
    REQUIRED.put("version", JsonValue.of(1));
    REQUIRED.put(
        "limits",
        new RequestLimits(300, 86_400, 65_536, Optional.empty(), Optional.empty()).toJson());
    REQUIRED.put("roles", JsonValue.object().build());
    REQUIRED.put("requirements", JsonValue.of(List.of()));
  }

  private final String file;
  private final List<WritException> faults = new ArrayList<>();
  private final TreeSet<String> leftOut = new TreeSet<>();
  private Located tree;

  /** Such a file lacks all that a policy has: to list each of these would hide that. */
  private final boolean ofAnotherKind;

  private PolicyFaults(String file, Located tree) {
    this.file = file;
    this.tree = tree;
    this.ofAnotherKind =
        tree instanceof Located.Map map
            && Collections.disjoint(map.members().keySet(), REQUIRED.keySet());
  }

  static List<WritException> of(byte[] text, String file) {
    Located tree;
    try {
      tree = PlainYaml.read(text, file);
    } catch (WritException fault) {
      return List.of(fault);
    }
    PolicyFaults found = new PolicyFaults(file, tree);
    int readings = Math.min(READINGS_MAX, BYTES_READ_MAX / Math.max(1, text.length));
    for (int i = 0; i < readings && found.faults.size() < FAULTS_MAX; i++) {
      if (!found.goesOn()) {
        break;
      }
    }
    return List.copyOf(found.faults.subList(0, Math.min(FAULTS_MAX, found.faults.size())));
  }

  /** Reads it; where a fault was found that can be left out, it goes on. */
  private boolean goesOn() {
    try {
      Section section = Section.of(file, tree);
      PolicyParts parts = PolicyParts.entries(section);
      if (faults.isEmpty()) {
        PolicyConsistency.check(parts, section, faults::add);
      }
      if (faults.isEmpty()) {
        Policy _ = new Policy(parts);
      }
      return false;
    } catch (FileFault fault) {
      boolean missing = fault.code() == GuardianError.POLICY_KEY_MISSING;
      if (!follows(fault)) {
        faults.add(fault);
      }
      if (ofAnotherKind) {
        return false;
      }
      return missing ? withoutParentOf(fault.field()) : without(fault.field());
    } catch (WritException fault) {
      faults.add(fault);
      return false;
    }
  }

  /**
   * Whether a fault is about something that was left out, or about what held it; of a name that is
   * defined nowhere, whether its definition may have been left out beside it.
   */
  private boolean follows(FileFault fault) {
    String field = fault.field();
    boolean beside = fault.code() == GuardianError.POLICY_REFERENCE && field.indexOf('/', 1) > 0;
    return leftOut.contains(field)
        || lacks(field)
        || beside && lacks(field.substring(0, field.lastIndexOf('/')));
  }

  /** Whether something inside of it was left out. */
  private boolean lacks(String field) {
    String inside = leftOut.ceiling(field + "/");
    return inside != null && inside.startsWith(field + "/");
  }

  private boolean withoutParentOf(String field) {
    String parent = field.substring(0, field.lastIndexOf('/'));
    if (!parent.isEmpty()) {
      return without(parent);
    }
    JsonValue stands = REQUIRED.get(field.substring(1));
    if (stands == null || !(tree instanceof Located.Map root)) {
      return false;
    }
    leftOut.add(field);
    LinkedHashMap<String, Located.Member> members = new LinkedHashMap<>(root.members());
    members.put(field.substring(1), new Located.Member(root.at(), Located.of(stands)));
    tree = new Located.Map(root.at(), members);
    return true;
  }

  private boolean without(String field) {
    Optional<Located> rest = field.isEmpty() ? Optional.empty() : without(tree, field);
    leftOut.add(field);
    rest.ifPresent(smaller -> tree = smaller);
    return rest.isPresent();
  }

  /**
   * @param path of what is left out, below that node: keys in it stand as they are
   * @return empty where there is nothing at the path
   */
  private static Optional<Located> without(Located node, String path) {
    return switch (node) {
      case Located.Map map ->
          map.members().keySet().stream()
              .filter(key -> path.equals("/" + key) || path.startsWith("/" + key + "/"))
              .max((a, b) -> Integer.compare(a.length(), b.length()))
              .flatMap(key -> without(map, key, path.substring(key.length() + 1)));
      case Located.Seq seq -> without(seq, path);
      case Located.Scalar _ -> Optional.empty();
    };
  }

  private static Optional<Located> without(Located.Map map, String key, String path) {
    LinkedHashMap<String, Located.Member> members = new LinkedHashMap<>(map.members());
    if (path.isEmpty()) {
      members.remove(key);
      return Optional.of(new Located.Map(map.at(), members));
    }
    Located.Member member = members.get(key);
    return without(member.value(), path)
        .map(smaller -> {
          members.put(key, new Located.Member(member.keyAt(), smaller));
          return new Located.Map(map.at(), members);
        });
  }

  private static Optional<Located> without(Located.Seq seq, String path) {
    int end = path.indexOf('/', 1);
    String number = path.substring(1, end < 0 ? path.length() : end);
    if (!number.matches("[0-9]{1,7}") || Integer.parseInt(number) >= seq.items().size()) {
      return Optional.empty();
    }
    int at = Integer.parseInt(number);
    Optional<Located> smaller =
        end < 0 ? Optional.of(Located.LEFT_OUT) : without(seq.items().get(at), path.substring(end));
    return smaller.map(item -> {
      List<Located> items = new ArrayList<>(seq.items());
      items.set(at, item);
      return new Located.Seq(seq.at(), items);
    });
  }
}
