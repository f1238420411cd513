package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.ChicoryInterruptedException;
import com.dylibso.chicory.runtime.ExecutionListener;
import com.dylibso.chicory.runtime.HostFunction;
import com.dylibso.chicory.runtime.ImportValues;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.runtime.TableInstance;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.MemoryLimits;
import com.dylibso.chicory.wasm.types.Table;
import com.dylibso.chicory.wasm.types.TableLimits;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** One invocation on its thread: its limited outputs, its memory, and measurements. */
public final class Guest {
  /** The most bytes of stderr that are kept. */
  public static final int STDERR_BYTES_MAX = 64 << 10;

  /** The most entries of one table. */
  static final int TABLE_ENTRIES_MAX = 100_000;

  private final Invocation invocation;
  private final List<byte[]> inputs;
  private final Sink stdout;
  private final Sink stderr = Sink.dropping(STDERR_BYTES_MAX);
  private GuestMemory memory;
  private Optional<String> partialMediaType = Optional.empty();
  private int exitCode;
  private long fuel;

  Guest(Invocation invocation, List<byte[]> inputs) {
    this.invocation = invocation;
    this.inputs = inputs;
    this.stdout = Sink.fatal(invocation.resources().outputBytes());
  }

  /**
   * A guest of Writ itself, for preparing state that other guests start from: it has no inputs, and
   * does not depend on time or place.
   */
  public static Guest internal(long memoryBytes) {
    return new Guest(
        new Invocation(
            new Scope("writ", "writ", "writ"),
            JsonValue.object().build(),
            List.of(),
            input -> InputStream.nullInputStream(),
            new byte[Digest.LENGTH],
            Instant.EPOCH,
            new Resources(1, memoryBytes, 0, 1),
            SandboxProfile.NAME,
            Optional.empty(),
            false),
        List.of());
  }

  public Invocation invocation() {
    return invocation;
  }

  /** The bytes of the inputs, in their order. */
  public List<byte[]> inputs() {
    return inputs;
  }

  public Sink stdout() {
    return stdout;
  }

  public Sink stderr() {
    return stderr;
  }

  /** Declares that stdout is the output itself, so that it is kept after a failure. */
  public void stdoutIsOutput(String mediaType) {
    partialMediaType = Optional.of(mediaType);
  }

  /** Records how many instructions were executed. */
  public void fuelUsed(long instructions) {
    fuel = instructions;
  }

  /** Whether the limit of memory refused a growth. */
  public boolean memoryRefused() {
    return memory != null && memory.refused();
  }

  /**
   * Makes the instance of a module, with at most the memory that the invocation declares.
   *
   * @param listener called for each instruction, if the interpreter runs it
   */
  public Instance instantiate(
      WasmModule module,
      Function<Instance, Machine> machine,
      List<HostFunction> imports,
      Optional<ExecutionListener> listener) {
    return instantiate(module, machine, imports, listener, Optional.empty());
  }

  /**
   * Makes an instance whose memory starts as an image says, instead of as the module does.
   *
   * @param name of the program, for the words of a refusal
   */
  public Instance restore(
      String name,
      WasmModule module,
      Function<Instance, Machine> machine,
      List<HostFunction> imports,
      MemoryImage image) {
    Instance instance = instantiate(module, machine, imports, Optional.empty(), Optional.of(image));
    if (!memory.restore()) {
      throw GuestEnd.killed(
          Reason.OUT_OF_MEMORY, name + " needs " + image.bytes() + " bytes of memory");
    }
    return instance;
  }

  private Instance instantiate(
      WasmModule module,
      Function<Instance, Machine> machine,
      List<HostFunction> imports,
      Optional<ExecutionListener> listener,
      Optional<MemoryImage> image) {
    Instance.Builder builder =
        Instance.builder(module)
            .withMachineFactory(machine)
            .withMemoryFactory(limits -> newMemory(limits, image))
            .withTableFactory(Guest::newTable)
            .withImportValues(
                ImportValues.builder().addFunction(imports.toArray(HostFunction[]::new)).build())
            .withStart(false);
    listener.ifPresent(builder::withUnsafeExecutionListener);
    module
        .memorySection()
        .filter(section -> section.memoryCount() > 0)
        .ifPresent(section -> builder.withMemoryLimits(limits(section.getMemory(0).limits())));
    return builder.build();
  }

  private MemoryLimits limits(MemoryLimits declared) {
    long pages = invocation.resources().memoryBytes() / Memory.PAGE_SIZE;
    if (pages < declared.initialPages()) {
      throw GuestEnd.killed(
          Reason.OUT_OF_MEMORY,
          "the module begins with "
              + (long) declared.initialPages() * Memory.PAGE_SIZE
              + " bytes of memory, the ceiling is "
              + invocation.resources().memoryBytes());
    }
    int most = (int) Math.min(pages, Math.min(declared.maximumPages(), Memory.RUNTIME_MAX_PAGES));
    return new MemoryLimits(declared.initialPages(), most);
  }

  private Memory newMemory(MemoryLimits limits, Optional<MemoryImage> image) {
    memory = new GuestMemory(limits, image);
    return memory;
  }

  private static TableInstance newTable(Table table, int initial) {
    TableLimits limits = table.limits();
    TableLimits capped = new TableLimits(limits.min(), Math.min(limits.max(), TABLE_ENTRIES_MAX));
    return new TableInstance(new Table(table.elementType(), capped), initial);
  }

  /** Lets long work of the host on behalf of a guest end together with the guest. */
  public static void checkInterrupted() {
    if (Thread.currentThread().isInterrupted()) {
      throw new ChicoryInterruptedException("interrupted");
    }
  }

  /** Runs a body that ends by returning or by {@code proc_exit(0)}; throws any other end. */
  public void untilExit(Runnable body) {
    try {
      body.run();
    } catch (GuestEnd end) {
      exitCode = end.exitCode();
      if (end.end() != DriverOutcome.End.SUCCEEDED) {
        throw end;
      }
    }
  }

  DriverOutcome succeeded(DriverOutcome.Output output, DriverOutcome.Metrics metrics) {
    return new DriverOutcome(
        DriverOutcome.End.SUCCEEDED,
        Reason.OK,
        "",
        Optional.of(output),
        List.of(),
        metrics,
        observations());
  }

  DriverOutcome ended(Failure failure, DriverOutcome.Metrics metrics) {
    Optional<DriverOutcome.Output> partial =
        failure.keepsOutput()
            ? partialMediaType.map(type -> new DriverOutcome.Output(stdout.toByteArray(), type))
            : Optional.empty();
    return new DriverOutcome(
        failure.end(),
        failure.reason(),
        Texts.message(failure.message()),
        partial.filter(output -> output.bytes().length > 0),
        List.of(),
        metrics,
        failure.keepsOutput() ? observations() : JsonValue.object().build());
  }

  private JsonValue.Obj observations() {
    var seen = JsonValue.object();
    if (exitCode != 0) {
      seen.put("exit_code", Integer.toUnsignedLong(exitCode));
    }
    if (memoryRefused()) {
      seen.put("memory_refused", true);
    }
    byte[] words = stderr.toByteArray();
    if (words.length > 0) {
      seen.put("stderr", Texts.text(words));
    }
    if (stderr.truncated()) {
      seen.put("stderr_truncated", true);
    }
    if (stdout.truncated()) {
      seen.put("output_truncated", true);
    }
    return seen.build();
  }

  /** Peak memory in bytes: a guest's memory never shrinks. */
  long memoryBytes() {
    return memory == null ? 0 : (long) memory.pages() * Memory.PAGE_SIZE;
  }

  long fuel() {
    return fuel;
  }
}
