package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.ExecutionListener;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.InterpreterMachine;
import com.dylibso.chicory.runtime.MStack;
import com.dylibso.chicory.runtime.StackFrame;
import com.dylibso.chicory.wasm.types.FunctionType;
import com.dylibso.chicory.wasm.types.Instruction;
import java.util.Deque;

/**
 * Counts instructions and calls exactly, in the interpreter, so that even an endless program ends
 * at the same point on every machine.
 */
final class Metering implements ExecutionListener {
  /** The deepest nesting of calls. */
  static final int CALL_DEPTH_MAX = 4096;

  private final long max;
  private long used;

  Metering(long max) {
    this.max = max;
  }

  @Override
  public void onExecution(Instruction instruction, MStack stack) {
    if (used >= max) {
      throw GuestEnd.fuel(max);
    }
    used++;
  }

  long used() {
    return used;
  }

  /** The interpreter, with a limit on the depth of calls. */
  static final class Machine extends InterpreterMachine {
    Machine(Instance instance) {
      super(instance);
    }

    @Override
    protected long[] call(
        MStack stack,
        Instance instance,
        Deque<StackFrame> callStack,
        int function,
        long[] args,
        FunctionType type,
        boolean popResults) {
      if (callStack.size() >= CALL_DEPTH_MAX) {
        throw GuestEnd.failed(
            Reason.STACK_OVERFLOW, "more than " + CALL_DEPTH_MAX + " nested calls");
      }
      return super.call(stack, instance, callStack, function, args, type, popResults);
    }
  }
}
