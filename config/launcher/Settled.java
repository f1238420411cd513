import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.ArrayList;
import java.util.List;

/**
 * A class file of ours with two things as methods of its own that javac leaves to the first time
 * they are reached: its switches over types, which {@link java.lang.runtime.SwitchBootstraps} makes
 * a class for, and what a record has from {@link java.lang.runtime.ObjectMethods}. The AOT cache
 * keeps lambdas and string concatenations, but not these, and with the first of them the JVM loads
 * and runs its class file library: 100 ms of the processor for {@code writ show}, 230 ms for {@code
 * writ run}.
 */
final class Settled {
  /** How the methods are called that are made instead of what the JVM makes when it gets there. */
  private static final String METHOD = "$settled$";

  private static final ClassDesc OBJECTS = ClassDesc.of("java.util.Objects");
  private static final String RECORDS = "Ljava/lang/runtime/ObjectMethods;";

  private static final String SWITCHES = "Ljava/lang/runtime/SwitchBootstraps;";

  private Settled() {}

  /** The same class, with the same meaning; the bytes themselves where nothing is to be done. */
  static byte[] of(byte[] bytes, ClassHierarchyResolver hierarchy) {
    ClassFile reader = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy));
    ClassModel model = reader.parse(bytes);
    List<InvokeDynamicInstruction> found = new ArrayList<>();
    CodeTransform calls =
        (code, part) -> {
          if (part instanceof InvokeDynamicInstruction dynamic && isSettled(dynamic)) {
            code.invokestatic(
                model.thisClass().asSymbol(),
                METHOD + found.size(),
                dynamic.typeSymbol(),
                model.flags().has(AccessFlag.INTERFACE));
            found.add(dynamic);
          } else {
            code.with(part);
          }
        };
    byte[] changed =
        reader.transformClass(
            model,
            ClassTransform.transformingMethodBodies(Settled::isToSettle, calls)
                .andThen(
                    ClassTransform.endHandler(builder -> {
                      for (int i = 0; i < found.size(); i++) {
                        InvokeDynamicInstruction dynamic = found.get(i);
                        builder.withMethodBody(
                            METHOD + i,
                            dynamic.typeSymbol(),
                            ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC,
                            code -> body(code, model.thisClass().asSymbol(), dynamic));
                      }
                    })));
    return found.isEmpty() ? bytes : changed;
  }

  private static boolean isToSettle(MethodModel method) {
    return method.code().stream()
        .flatMap(code -> code.elementStream())
        .anyMatch(part -> part instanceof InvokeDynamicInstruction d && isSettled(d));
  }

  private static boolean isSettled(InvokeDynamicInstruction dynamic) {
    return isTypeSwitch(dynamic) || isOfRecord(dynamic);
  }

  private static boolean isOfRecord(InvokeDynamicInstruction dynamic) {
    return dynamic.bootstrapMethod().owner().descriptorString().equals(RECORDS);
  }

  private static void body(CodeBuilder code, ClassDesc self, InvokeDynamicInstruction dynamic) {
    if (isTypeSwitch(dynamic)) {
      choose(code, dynamic.bootstrapArgs());
      return;
    }
    // The class, the names, and a handle for each field, as ObjectMethods is specified.
    List<DirectMethodHandleDesc> fields =
        dynamic.bootstrapArgs().stream().skip(2).map(DirectMethodHandleDesc.class::cast).toList();
    switch (dynamic.name().stringValue()) {
      case "equals" -> equal(code, self, fields);
      case "hashCode" -> hash(code, self, fields);
      default -> text(code, self, fields);
    }
  }

  private static ClassDesc type(DirectMethodHandleDesc field) {
    return field.invocationType().returnType();
  }

  private static void equal(CodeBuilder code, ClassDesc self, List<DirectMethodHandleDesc> fields) {
    Label different = code.newLabel();
    code.aload(1).instanceOf(self).ifeq(different).aload(1).checkcast(self).astore(2);
    for (DirectMethodHandleDesc field : fields) {
      ClassDesc type = type(field);
      code.aload(0).getfield(self, field.methodName(), type);
      code.aload(2).getfield(self, field.methodName(), type);
      if (type.isPrimitive()) {
        ClassDesc box = box(type);
        code.invokestatic(box, "compare", MethodTypeDesc.of(ConstantDescs.CD_int, type, type));
        code.ifne(different);
      } else {
        code.invokestatic(
            OBJECTS,
            "equals",
            MethodTypeDesc.of(
                ConstantDescs.CD_boolean, ConstantDescs.CD_Object, ConstantDescs.CD_Object));
        code.ifeq(different);
      }
    }
    code.iconst_1().ireturn().labelBinding(different).iconst_0().ireturn();
  }

  private static void hash(CodeBuilder code, ClassDesc self, List<DirectMethodHandleDesc> fields) {
    code.iconst_0();
    for (DirectMethodHandleDesc field : fields) {
      ClassDesc type = type(field);
      code.bipush(31).imul().aload(0).getfield(self, field.methodName(), type);
      code.invokestatic(
          type.isPrimitive() ? box(type) : OBJECTS,
          "hashCode",
          MethodTypeDesc.of(
              ConstantDescs.CD_int, type.isPrimitive() ? type : ConstantDescs.CD_Object));
      code.iadd();
    }
    code.ireturn();
  }

  private static void text(CodeBuilder code, ClassDesc self, List<DirectMethodHandleDesc> fields) {
    ClassDesc builder = StringBuilder.class.describeConstable().orElseThrow();
    MethodTypeDesc append = MethodTypeDesc.of(builder, ConstantDescs.CD_String);
    code.new_(builder).dup();
    code.invokespecial(builder, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void);
    code.loadConstant(self);
    code.invokevirtual(
        ConstantDescs.CD_Class, "getSimpleName", MethodTypeDesc.of(ConstantDescs.CD_String));
    code.invokevirtual(builder, "append", append);
    String before = "[";
    for (DirectMethodHandleDesc field : fields) {
      ClassDesc type = type(field);
      code.loadConstant(before + field.methodName() + "=").invokevirtual(builder, "append", append);
      code.aload(0).getfield(self, field.methodName(), type);
      ClassDesc shown = type.isPrimitive() ? box(type) : ConstantDescs.CD_String;
      code.invokestatic(
          shown,
          type.isPrimitive() ? "toString" : "valueOf",
          MethodTypeDesc.of(
              ConstantDescs.CD_String, type.isPrimitive() ? type : ConstantDescs.CD_Object));
      code.invokevirtual(builder, "append", append);
      before = ", ";
    }
    code.loadConstant(fields.isEmpty() ? "[]" : "]").invokevirtual(builder, "append", append);
    code.invokevirtual(builder, "toString", MethodTypeDesc.of(ConstantDescs.CD_String));
    code.areturn();
  }

  private static ClassDesc box(ClassDesc primitive) {
    return switch (primitive.descriptorString()) {
      case "Z" -> ConstantDescs.CD_Boolean;
      case "B" -> ConstantDescs.CD_Byte;
      case "C" -> ConstantDescs.CD_Character;
      case "D" -> ConstantDescs.CD_Double;
      case "F" -> ConstantDescs.CD_Float;
      case "I" -> ConstantDescs.CD_Integer;
      case "J" -> ConstantDescs.CD_Long;
      default -> ConstantDescs.CD_Short;
    };
  }

  /** Whether it is a switch over types alone, without constants among the cases. */
  private static boolean isTypeSwitch(InvokeDynamicInstruction dynamic) {
    return dynamic.bootstrapMethod().owner().descriptorString().equals(SWITCHES)
        && dynamic.bootstrapMethod().methodName().equals("typeSwitch")
        && dynamic.bootstrapArgs().stream().allMatch(ClassDesc.class::isInstance);
  }

  /** As typeSwitch is specified: -1 for null, else the first case from the restart on, or n. */
  private static void choose(CodeBuilder code, List<ConstantDesc> types) {
    Label something = code.newLabel();
    code.aload(0).ifnonnull(something).iconst_m1().ireturn().labelBinding(something);
    for (int i = 0; i < types.size(); i++) {
      Label next = code.newLabel();
      code.iload(1).loadConstant(i).if_icmpgt(next);
      code.aload(0).instanceOf((ClassDesc) types.get(i)).ifeq(next);
      code.loadConstant(i).ireturn().labelBinding(next);
    }
    code.loadConstant(types.size()).ireturn();
  }
}
