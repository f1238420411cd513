;; Writes {"bytes":N,"crc32":"xxxxxxxx"} of the input "data"; exit code 2 where there is no such input.
;; CRC-32 of ISO 3309: the reversed polynomial 0xedb88320, all ones before and inverted after.
(module
  (import "wasi_snapshot_preview1" "fd_read"
    (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))

  ;; 0..7 an io vector, 8 a result, 16 a descriptor, 64..127 digits, 1024 text, 4096..5119 the table,
  ;; 65536 the buffer
  (memory (export "memory") 2)
  (data (i32.const 1024) "{\"bytes\":")
  (data (i32.const 1040) ",\"crc32\":\"")
  (data (i32.const 1056) "\"}")
  (data (i32.const 1072) "in/data")
  (data (i32.const 1088) "no input named \"data\"\n")
  (data (i32.const 1120) "cannot read\n")
  (data (i32.const 1136) "0123456789abcdef")

  (func $write (param $fd i32) (param $at i32) (param $length i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $length))
    (drop (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8))))

  (func $write_number (param $n i64)
    (local $at i32)
    (local.set $at (i32.const 128))
    (loop $digits
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at)
        (i32.add (i32.const 48) (i32.wrap_i64 (i64.rem_u (local.get $n) (i64.const 10)))))
      (local.set $n (i64.div_u (local.get $n) (i64.const 10)))
      (br_if $digits (i64.ne (local.get $n) (i64.const 0))))
    (call $write (i32.const 1) (local.get $at) (i32.sub (i32.const 128) (local.get $at))))

  (func $write_hex (param $n i32)
    (local $at i32)
    (local.set $at (i32.const 72))
    (loop $digits
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at)
        (i32.load8_u (i32.add (i32.const 1136) (i32.and (local.get $n) (i32.const 15)))))
      (local.set $n (i32.shr_u (local.get $n) (i32.const 4)))
      (br_if $digits (i32.gt_u (local.get $at) (i32.const 64))))
    (call $write (i32.const 1) (i32.const 64) (i32.const 8)))

  (func $make_table
    (local $i i32) (local $bit i32) (local $value i32)
    (loop $each
      (local.set $value (local.get $i))
      (local.set $bit (i32.const 8))
      (loop $bits
        (local.set $value
          (i32.xor
            (i32.shr_u (local.get $value) (i32.const 1))
            (i32.and
              (i32.const 0xedb88320)
              (i32.sub (i32.const 0) (i32.and (local.get $value) (i32.const 1))))))
        (local.set $bit (i32.sub (local.get $bit) (i32.const 1)))
        (br_if $bits (local.get $bit)))
      (i32.store
        (i32.add (i32.const 4096) (i32.shl (local.get $i) (i32.const 2))) (local.get $value))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $each (i32.lt_u (local.get $i) (i32.const 256)))))

  (func (export "_start")
    (local $fd i32) (local $bytes i64) (local $crc i32) (local $got i32) (local $i i32)
    ;; the file in/data below the preopened directory, descriptor 3
    (if (call $path_open (i32.const 3) (i32.const 0) (i32.const 1072) (i32.const 7)
          (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 16))
      (then
        (call $write (i32.const 2) (i32.const 1088) (i32.const 22))
        (call $proc_exit (i32.const 2))))
    (local.set $fd (i32.load (i32.const 16)))
    (call $make_table)
    (local.set $crc (i32.const -1))
    (block $end
      (loop $read
        (i32.store (i32.const 0) (i32.const 65536))
        (i32.store (i32.const 4) (i32.const 65536))
        (if (call $fd_read (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8))
          (then
            (call $write (i32.const 2) (i32.const 1120) (i32.const 12))
            (call $proc_exit (i32.const 1))))
        (local.set $got (i32.load (i32.const 8)))
        (br_if $end (i32.eqz (local.get $got)))
        (local.set $bytes (i64.add (local.get $bytes) (i64.extend_i32_u (local.get $got))))
        (local.set $i (i32.const 0))
        (loop $each
          (local.set $crc
            (i32.xor
              (i32.shr_u (local.get $crc) (i32.const 8))
              (i32.load
                (i32.add
                  (i32.const 4096)
                  (i32.shl
                    (i32.and
                      (i32.xor
                        (local.get $crc)
                        (i32.load8_u (i32.add (i32.const 65536) (local.get $i))))
                      (i32.const 255))
                    (i32.const 2))))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $each (i32.lt_u (local.get $i) (local.get $got))))
        (br $read)))
    (call $write (i32.const 1) (i32.const 1024) (i32.const 9))
    (call $write_number (local.get $bytes))
    (call $write (i32.const 1) (i32.const 1040) (i32.const 10))
    (call $write_hex (i32.xor (local.get $crc) (i32.const -1)))
    (call $write (i32.const 1) (i32.const 1056) (i32.const 2))))
