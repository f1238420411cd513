/*
 * A PKCS#11 module for tests, with one token and one key pair, that does as the files in DIR tell it:
 * "point" is the public key, "type" and "curve" say of what kind (where they are there), "signature" what it signs with whatever the message is, "pin" the PIN;
 * NAME.rv, where it is there, is what the function NAME returns the next time, and is removed then.
 * Each login appends a byte to "logins". Where "gone" is there no login succeeds from then on, until the module is
 * ended and started anew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long ulong;
typedef struct { ulong type; void *value; ulong length; } attribute;

static ulong wanted_class;
static int given;

static long bytes(const char *name, unsigned char *into, long most) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", DIR, name);
  FILE *file = fopen(path, "rb");
  if (!file) return -1;
  long length = (long) fread(into, 1, (size_t) most, file);
  fclose(file);
  return length;
}

static ulong told(const char *function) {
  char name[64], path[4096];
  unsigned char text[32] = {0};
  snprintf(name, sizeof name, "%s.rv", function);
  if (bytes(name, text, sizeof text - 1) < 0) return 0;
  snprintf(path, sizeof path, "%s/%s", DIR, name);
  unlink(path);
  return strtoul((char *) text, NULL, 16);
}

static int gone;

static ulong initialize(void *arguments) { (void) arguments; return told("C_Initialize"); }

static ulong finalize(void *reserved) {
  (void) reserved;
  gone = 0;
  return told("C_Finalize");
}

static ulong slots(unsigned char present, ulong *list, ulong *count) {
  (void) present;
  list[0] = 7;
  *count = 1;
  return told("C_GetSlotList");
}

static ulong token_info(ulong slot, unsigned char *info) {
  (void) slot;
  memset(info, ' ', 96);
  memcpy(info, "test token", 10);
  memcpy(info + 80, "0001", 4);
  memset(info + 96, 0, 208 - 96);
  ulong flags = 0x4;
  memcpy(info + 96, &flags, sizeof flags);
  return told("C_GetTokenInfo");
}

static ulong open_session(ulong slot, ulong flags, void *application, void *notify, ulong *session) {
  (void) slot; (void) flags; (void) application; (void) notify;
  *session = 1;
  return told("C_OpenSession");
}

static ulong close_session(ulong session) { (void) session; return 0; }

static ulong login(ulong session, ulong user, unsigned char *pin, ulong length) {
  (void) session; (void) user;
  char path[4096];
  unsigned char right[64];
  snprintf(path, sizeof path, "%s/logins", DIR);
  FILE *file = fopen(path, "ab");
  if (file) { fputc('x', file); fclose(file); }
  snprintf(path, sizeof path, "%s/gone", DIR);
  gone = gone || access(path, F_OK) == 0;
  if (gone) return 5;
  long expected = bytes("pin", right, sizeof right);
  if (expected != (long) length || memcmp(right, pin, length)) return 0xA0;
  return told("C_Login");
}

static ulong find_init(ulong session, attribute *template, ulong count) {
  (void) session;
  given = 0;
  for (ulong i = 0; i < count; i++)
    if (template[i].type == 0) memcpy(&wanted_class, template[i].value, sizeof wanted_class);
  return told("C_FindObjectsInit");
}

static ulong find(ulong session, ulong *objects, ulong most, ulong *count) {
  (void) session; (void) most;
  *count = given ? 0 : 1;
  given = 1;
  objects[0] = wanted_class;
  return told("C_FindObjects");
}

static ulong find_final(ulong session) { (void) session; return 0; }

static ulong get_attribute(ulong session, ulong object, attribute *template, ulong count) {
  (void) session; (void) object; (void) count;
  ulong kind = 0x40;
  unsigned char type;
  switch (template->type) {
    case 0x100:
      if (bytes("type", &type, 1) == 1) kind = type;
      memcpy(template->value, &kind, sizeof kind);
      template->length = sizeof kind;
      return 0;
    case 0x102: memcpy(template->value, "\1", 1); template->length = 1; return 0;
    case 0x181: template->length = (ulong) bytes("point", template->value, 128); return 0;
    case 0x180: template->length = (ulong) bytes("curve", template->value, 128); return 0;
    default: template->length = (ulong) -1; return 0x12;
  }
}

static ulong sign_init(ulong session, void *mechanism, ulong key) {
  (void) session; (void) mechanism; (void) key;
  return told("C_SignInit");
}

static ulong sign(ulong session, unsigned char *data, ulong length, unsigned char *signature, ulong *signed_length) {
  (void) session; (void) data; (void) length;
  *signed_length = (ulong) bytes("signature", signature, 4096);
  return told("C_Sign");
}

static ulong not_here(void) { return 0x54; }

static struct { unsigned char version[8]; void *functions[68]; } list = { {2, 40}, {0} };

ulong C_GetFunctionList(void **into) {
  for (int i = 0; i < 68; i++) list.functions[i] = (void *) not_here;
  list.functions[0] = (void *) initialize;
  list.functions[1] = (void *) finalize;
  list.functions[4] = (void *) slots;
  list.functions[6] = (void *) token_info;
  list.functions[12] = (void *) open_session;
  list.functions[13] = (void *) close_session;
  list.functions[18] = (void *) login;
  list.functions[24] = (void *) get_attribute;
  list.functions[26] = (void *) find_init;
  list.functions[27] = (void *) find;
  list.functions[28] = (void *) find_final;
  list.functions[42] = (void *) sign_init;
  list.functions[43] = (void *) sign;
  *into = &list;
  return told("C_GetFunctionList");
}
