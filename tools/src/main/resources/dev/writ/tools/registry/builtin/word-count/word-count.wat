;; Counts the lines, words and bytes of the input "text" and writes {"bytes":B,"lines":L,"words":W};
;; exit code 2 where there is no such input. A word is a run of bytes other than space, tab,
;; line feed, vertical tab, form feed and carriage return; a line ends with a line feed.
(module
  (import "wasi_snapshot_preview1" "fd_read"
    (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))

  ;; 0..7 an io vector, 8 a result, 16 a descriptor, 64..127 digits, 1024 text, 65536 the buffer
  (memory (export "memory") 2)
  (data (i32.const 1024) "{\"bytes\":")
  (data (i32.const 1040) ",\"lines\":")
  (data (i32.const 1056) ",\"words\":")
  (data (i32.const 1072) "}")
  (data (i32.const 1088) "in/text")
  (data (i32.const 1104) "no input named \"text\"\n")
  (data (i32.const 1136) "cannot read\n")

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

  (func $is_space (param $byte i32) (result i32)
    (i32.or
      (i32.eq (local.get $byte) (i32.const 32))
      (i32.lt_u (i32.sub (local.get $byte) (i32.const 9)) (i32.const 5))))

  (func (export "_start")
    (local $fd i32) (local $bytes i64) (local $lines i64) (local $words i64)
    (local $got i32) (local $i i32) (local $byte i32) (local $in_word i32)
    ;; the file in/text below the preopened directory, descriptor 3
    (if (call $path_open (i32.const 3) (i32.const 0) (i32.const 1088) (i32.const 7)
          (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 16))
      (then
        (call $write (i32.const 2) (i32.const 1104) (i32.const 22))
        (call $proc_exit (i32.const 2))))
    (local.set $fd (i32.load (i32.const 16)))
    (block $end
      (loop $read
        (i32.store (i32.const 0) (i32.const 65536))
        (i32.store (i32.const 4) (i32.const 65536))
        (if (call $fd_read (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8))
          (then
            (call $write (i32.const 2) (i32.const 1136) (i32.const 12))
            (call $proc_exit (i32.const 1))))
        (local.set $got (i32.load (i32.const 8)))
        (br_if $end (i32.eqz (local.get $got)))
        (local.set $bytes (i64.add (local.get $bytes) (i64.extend_i32_u (local.get $got))))
        (local.set $i (i32.const 0))
        (loop $each
          (local.set $byte (i32.load8_u (i32.add (i32.const 65536) (local.get $i))))
          (if (i32.eq (local.get $byte) (i32.const 10))
            (then (local.set $lines (i64.add (local.get $lines) (i64.const 1)))))
          (if (call $is_space (local.get $byte))
            (then (local.set $in_word (i32.const 0)))
            (else
              (if (i32.eqz (local.get $in_word))
                (then (local.set $words (i64.add (local.get $words) (i64.const 1)))))
              (local.set $in_word (i32.const 1))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $each (i32.lt_u (local.get $i) (local.get $got))))
        (br $read)))
    (call $write (i32.const 1) (i32.const 1024) (i32.const 9))
    (call $write_number (local.get $bytes))
    (call $write (i32.const 1) (i32.const 1040) (i32.const 9))
    (call $write_number (local.get $lines))
    (call $write (i32.const 1) (i32.const 1056) (i32.const 9))
    (call $write_number (local.get $words))
    (call $write (i32.const 1) (i32.const 1072) (i32.const 1))))
