package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.HostFunction;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.runtime.WasmRuntimeException;
import com.dylibso.chicory.wasm.types.FunctionType;
import com.dylibso.chicory.wasm.types.ValType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The functions of {@code wasi_snapshot_preview1} with their exact types and implementations. All
 * are present, so that every program links; functions that would reach the outside world return an
 * error number.
 */
final class WasiCalls {
  static final String MODULE = "wasi_snapshot_preview1";

  /** Answers one call with an error number; arguments are as WebAssembly passes them. */
  @FunctionalInterface
  interface Call {
    int answer(Wasi wasi, Memory memory, long[] args);
  }

  private record Entry(FunctionType type, Call call) {}

  private static final SortedMap<String, Entry> CALLS = calls();

  private WasiCalls() {}

  /** The type of each function by name. */
  static SortedMap<String, FunctionType> types() {
    TreeMap<String, FunctionType> types = new TreeMap<>();
    CALLS.forEach((name, entry) -> types.put(name, entry.type));
    return Collections.unmodifiableSortedMap(types);
  }

  /** The functions bound to one guest. */
  static List<HostFunction> bind(Wasi wasi) {
    List<HostFunction> functions = new ArrayList<>(CALLS.size());
    CALLS.forEach((name, entry) ->
        functions.add(
            new HostFunction(
                MODULE,
                name,
                entry.type,
                (instance, args) -> answer(entry, wasi, instance.memory(), args))));
    return functions;
  }

  private static long[] answer(Entry entry, Wasi wasi, Memory memory, long[] args) {
    try {
      int errno = entry.call.answer(wasi, memory, args);
      return entry.type.returns().isEmpty() ? new long[0] : new long[] {errno};
    } catch (WasmRuntimeException | IndexOutOfBoundsException e) {
      // An address outside the guest's memory.
      return new long[] {Errno.FAULT};
    }
  }

  /** Answers each call once with zeros, for {@link Warmup}. */
  static void answerAll(Wasi wasi, Memory memory) {
    for (Entry entry : CALLS.values()) {
      try {
        answer(entry, wasi, memory, new long[entry.type.params().size()]);
        answer(entry, wasi, memory, filled(entry, 3));
        answer(entry, wasi, memory, filled(entry, -1));
      } catch (GuestEnd e) {
        // proc_exit
      }
    }
  }

  private static long[] filled(Entry entry, long value) {
    long[] args = new long[entry.type.params().size()];
    Arrays.fill(args, value);
    return args;
  }

  private static SortedMap<String, Entry> calls() {
    TreeMap<String, Entry> calls = new TreeMap<>();
    state(calls);
    descriptors(calls);
    paths(calls);
    refused(calls);
    return Collections.unmodifiableSortedMap(calls);
  }

  private static void state(TreeMap<String, Entry> calls) {
    put(calls, "args_get", "ii", (w, m, a) -> w.strings(m, w.args(), i(a, 0), i(a, 1)));
    put(calls, "args_sizes_get", "ii", (w, m, a) -> w.sizes(m, w.args(), i(a, 0), i(a, 1)));
    put(calls, "environ_get", "ii", (w, m, a) -> w.strings(m, w.environment(), i(a, 0), i(a, 1)));
    put(
        calls,
        "environ_sizes_get",
        "ii",
        (w, m, a) -> w.sizes(m, w.environment(), i(a, 0), i(a, 1)));
    put(calls, "clock_res_get", "ii", (w, m, a) -> w.clockResolution(m, i(a, 0), i(a, 1)));
    put(calls, "clock_time_get", "iIi", (w, m, a) -> w.clockTime(m, i(a, 0), i(a, 2)));
    put(
        calls,
        "poll_oneoff",
        "iiii",
        (w, m, a) -> WasiPoll.poll(w, m, i(a, 0), i(a, 1), i(a, 2), i(a, 3)));
    put(calls, "random_get", "ii", (w, m, a) -> w.random(m, i(a, 0), i(a, 1)));
    put(calls, "sched_yield", "", (w, m, a) -> Errno.SUCCESS);
    calls.put(
        "proc_exit",
        new Entry(
            FunctionType.accepting(ValType.I32),
            (w, m, a) -> {
              throw GuestEnd.exit(i(a, 0));
            }));
  }

  private static void descriptors(TreeMap<String, Entry> calls) {
    put(calls, "fd_advise", "iIIi", (w, m, a) -> w.known(i(a, 0)));
    put(calls, "fd_close", "i", (w, m, a) -> w.close(i(a, 0)));
    put(calls, "fd_datasync", "i", (w, m, a) -> w.known(i(a, 0)));
    put(calls, "fd_sync", "i", (w, m, a) -> w.known(i(a, 0)));
    put(calls, "fd_fdstat_get", "ii", (w, m, a) -> w.fdstat(m, i(a, 0), i(a, 1)));
    put(calls, "fd_fdstat_set_flags", "ii", (w, m, a) -> w.known(i(a, 0)));
    put(calls, "fd_fdstat_set_rights", "iII", (w, m, a) -> w.known(i(a, 0)));
    put(calls, "fd_filestat_get", "ii", (w, m, a) -> w.filestat(m, i(a, 0), i(a, 1)));
    put(calls, "fd_prestat_get", "ii", (w, m, a) -> w.prestat(m, i(a, 0), i(a, 1)));
    put(
        calls,
        "fd_prestat_dir_name",
        "iii",
        (w, m, a) -> w.prestatName(m, i(a, 0), i(a, 1), i(a, 2)));
    put(calls, "fd_read", "iiii", (w, m, a) -> w.read(m, i(a, 0), i(a, 1), i(a, 2), i(a, 3)));
    put(
        calls,
        "fd_pread",
        "iiiIi",
        (w, m, a) -> w.pread(m, i(a, 0), i(a, 1), i(a, 2), a[3], i(a, 4)));
    put(calls, "fd_write", "iiii", (w, m, a) -> w.write(m, i(a, 0), i(a, 1), i(a, 2), i(a, 3)));
    put(
        calls,
        "fd_readdir",
        "iiiIi",
        (w, m, a) -> w.readdir(m, i(a, 0), i(a, 1), i(a, 2), a[3], i(a, 4)));
    put(calls, "fd_seek", "iIii", (w, m, a) -> w.seek(m, i(a, 0), a[1], i(a, 2), i(a, 3)));
    put(calls, "fd_tell", "ii", (w, m, a) -> w.seek(m, i(a, 0), 0, Wasi.WHENCE_CUR, i(a, 1)));
  }

  private static void paths(TreeMap<String, Entry> calls) {
    put(
        calls,
        "path_open",
        "iiiiiIIii",
        (w, m, a) -> w.open(m, i(a, 0), i(a, 2), i(a, 3), i(a, 4), a[5], i(a, 8)));
    put(
        calls,
        "path_filestat_get",
        "iiiii",
        (w, m, a) -> w.pathFilestat(m, i(a, 0), i(a, 2), i(a, 3), i(a, 4)));
    // There are no symbolic links, so every existing file is no link.
    put(calls, "path_readlink", "iiiiii", (w, m, a) -> Errno.INVAL);
  }

  private static void refused(TreeMap<String, Entry> calls) {
    Call readOnly = (w, m, a) -> Errno.ROFS;
    put(calls, "fd_allocate", "iII", readOnly);
    put(calls, "fd_filestat_set_size", "iI", readOnly);
    put(calls, "fd_filestat_set_times", "iIIi", readOnly);
    put(calls, "fd_pwrite", "iiiIi", readOnly);
    put(calls, "path_create_directory", "iii", readOnly);
    put(calls, "path_filestat_set_times", "iiiiIIi", readOnly);
    put(calls, "path_link", "iiiiiii", readOnly);
    put(calls, "path_remove_directory", "iii", readOnly);
    put(calls, "path_rename", "iiiiii", readOnly);
    put(calls, "path_symlink", "iiiii", readOnly);
    put(calls, "path_unlink_file", "iii", readOnly);
    Call noSystem = (w, m, a) -> Errno.NOSYS;
    put(calls, "fd_renumber", "ii", noSystem);
    put(calls, "proc_raise", "i", noSystem);
    Call noSocket = (w, m, a) -> Errno.NOTSOCK;
    put(calls, "sock_accept", "iii", noSocket);
    put(calls, "sock_recv", "iiiiii", noSocket);
    put(calls, "sock_send", "iiiii", noSocket);
    put(calls, "sock_shutdown", "ii", noSocket);
  }

  /** {@code types}: one letter for each parameter, i for i32 and I for i64; the result is i32. */
  private static void put(TreeMap<String, Entry> calls, String name, String types, Call call) {
    List<ValType> params =
        types.chars().mapToObj(c -> c == 'I' ? ValType.I64 : ValType.I32).toList();
    calls.put(name, new Entry(FunctionType.of(params, List.of(ValType.I32)), call));
  }

  private static int i(long[] args, int index) {
    return (int) args[index];
  }
}
