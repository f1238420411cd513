package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Input;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** One run of one operation of a module: its inputs, its entry point, and its result. */
final class WasmProgram {
  static final String INITIALIZE = "_initialize";

  /** How far each reading advances the clock. */
  static final long CLOCK_STEP_NANOS = 1000;

  private final ModuleCache.Compiled compiled;
  private final String tool;
  private final String operation;
  private final String mediaType;
  private final Optional<Long> fuel;

  /**
   * @param fuel the limit of instructions, if they are counted
   */
  WasmProgram(
      ModuleCache.Compiled compiled,
      String tool,
      String operation,
      String mediaType,
      Optional<Long> fuel) {
    this.compiled = compiled;
    this.tool = tool;
    this.operation = operation;
    this.mediaType = mediaType;
    this.fuel = fuel;
  }

  DriverOutcome.Output run(Guest guest) {
    guest.stdoutIsOutput(mediaType);
    Optional<Metering> metering = fuel.map(Metering::new);
    Function<Instance, Machine> machine =
        metering.isPresent() ? Metering.Machine::new : compiled.machine();
    try {
      Instance instance =
          guest.instantiate(
              compiled.module(),
              machine,
              system(guest).functions(),
              metering.map(Function.identity()));
      guest.untilExit(() -> enter(instance));
    } finally {
      metering.ifPresent(m -> guest.fuelUsed(m.used()));
    }
    return new DriverOutcome.Output(guest.stdout().toByteArray(), mediaType);
  }

  private void enter(Instance instance) {
    if (ModuleRules.isCommand(compiled.module())) {
      instance.export(Instance.START_FUNCTION_NAME).apply();
      return;
    }
    if (ModuleRules.exportType(compiled.module(), INITIALIZE) != null) {
      instance.export(INITIALIZE).apply();
    }
    long[] result = instance.export(operation).apply();
    if (result != null && result.length == 1) {
      throw GuestEnd.exit((int) result[0]);
    }
  }

  private Wasi system(Guest guest) {
    Invocation invocation = guest.invocation();
    FileTree files = new FileTree();
    files.addDirectory("in");
    for (int i = 0; i < guest.inputs().size(); i++) {
      Input input = invocation.inputs().get(i);
      if (!FileTree.isPlainName(input.name())) {
        throw GuestEnd.failed(
            Reason.BAD_INPUT, "an input's name cannot be a file's: " + input.name());
      }
      files.add(List.of("in", input.name()), guest.inputs().get(i));
    }
    return new Wasi(
        List.of(tool, operation),
        Collections.emptySortedMap(),
        Jcs.write(invocation.params()),
        files,
        new GuestClock(invocation.time(), CLOCK_STEP_NANOS),
        new Drbg(invocation.seed()),
        guest.stdout(),
        guest.stderr());
  }
}
