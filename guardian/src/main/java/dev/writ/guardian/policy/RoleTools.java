package dev.writ.guardian.policy;

import java.util.BitSet;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The tools that roles name, as sets of their numbers in the order of their names. A set of many is
 * kept as bits and one of few as a list, so that all of them together are as large as the policy
 * is, and a union takes no longer than the smaller of both.
 */
final class RoleTools {
  private final List<String> names;
  private final Map<String, Integer> numbers = new LinkedHashMap<>();
  private final Map<String, int[]> few = new LinkedHashMap<>();
  private final Map<String, BitSet> many = new LinkedHashMap<>();

  RoleTools(Collection<Role> roles) {
    TreeSet<String> named = new TreeSet<>();
    roles.forEach(role -> named(role).forEach(named::add));
    names = List.copyOf(named);
    for (int i = 0; i < names.size(); i++) {
      numbers.put(names.get(i), i);
    }
    for (Role role : roles) {
      int[] tools = named(role).distinct().mapToInt(numbers::get).toArray();
      if (tools.length <= names.size() / Long.SIZE) {
        few.put(role.name(), tools);
      } else {
        BitSet bits = new BitSet(names.size());
        add(tools, bits);
        many.put(role.name(), bits);
      }
    }
  }

  private static Stream<String> named(Role role) {
    return role.tools().stream().map(named -> named.split("/", 2)[0]);
  }

  private static void add(int[] tools, BitSet bits) {
    for (int tool : tools) {
      bits.set(tool);
    }
  }

  /** Of all roles that are named; of one that is not defined none. */
  BitSet of(Collection<String> roles) {
    BitSet all = new BitSet(names.size());
    for (String role : roles) {
      BitSet bits = many.get(role);
      if (bits == null) {
        add(few.getOrDefault(role, new int[0]), all);
      } else {
        all.or(bits);
      }
    }
    return all;
  }

  /** Of these names, those that a role has. */
  BitSet named(Collection<String> tools) {
    BitSet bits = new BitSet(names.size());
    for (String tool : tools) {
      int number = number(tool);
      if (number >= 0) {
        bits.set(number);
      }
    }
    return bits;
  }

  BitSet all() {
    BitSet all = new BitSet(names.size());
    all.set(0, names.size());
    return all;
  }

  /** Of a tool's name; -1 where no role has it. */
  int number(String tool) {
    return numbers.getOrDefault(tool, -1);
  }

  String name(int number) {
    return names.get(number);
  }
}
