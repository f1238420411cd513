;; Does nothing: writes {"stated":true}, so that there is an effect to judge and a receipt of it.
(module
  (import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\0f\00\00\00") ;; an io vector: 15 bytes at 16
  (data (i32.const 16) "{\"stated\":true}")
  (func (export "_start")
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
