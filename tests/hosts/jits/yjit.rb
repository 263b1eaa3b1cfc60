# SPDX-License-Identifier: MIT
# yjit.rb [bop|ractor]: every kind of code that YJIT 3.1 compiles, and what discards or moves things under it.  On stdout: results;
# on stderr: ADDRESS BYTES NAME of each block that there is of some methods, at four moments.
def out(m, name)
  list = [RubyVM::InstructionSequence.of(m)]
  until list.empty?
    s = list.pop
    full = name.empty? ? s.label : s.label.delete_suffix(s.base_label) + name
    RubyVM::YJIT.blocks_for(s).each { |b| $stderr.puts "#{b.address} #{b.code.bytesize} #{full}" }
    s.each_child { |c| list << c }
  end
end
$stdout.sync = true
class Point
  include Comparable
  attr_accessor :x, :y
  def initialize(x, y) @x = x; @y = y end
  def <=>(o) x <=> o.x end
  def self.origin(n = 0) new(n, n) end
  def norm; (x * x + y * y).abs end
  def to_h; { x: x, y: y, sum: x + y } end
  def match(s) /a#{s}b/ =~ "aqb" end
  def opt(a, b = a + 1, *rest, k: 2, **o, &blk) blk ? blk.call(a) : a + b + k end
  def each_one; yield x; yield y end
  def both; each_one { |v| @x += v if v.is_a?(Integer) && v < 3 } end
  define_method(:dm) { |z| z + 1 }
  class << self
    def meta(a) a.map { |v| v + 1 }.sum end
  end
end
module Mixed
  def mixed(n) n.zero? ? 0 : n + mixed(n - 1) end
end
class Point; include Mixed end
def rescue_it(n) begin; raise "odd" if n.odd?; n; rescue RuntimeError; -1; end end
def strings(n) "#{n}:#{n.to_s * 2}".to_sym end
def loop_it(n) i = 0; s = 0; while i < n; s += i; i += 1; end; s end
def red(n) n + 1 end
def dump_all
  [:<=>, :norm, :to_h, :match, :opt, :each_one, :both].each { |m| out(Point.instance_method(m), "Point##{m}") }
  out(Point.instance_method(:dm), "")
  out(Mixed.instance_method(:mixed), "Mixed#mixed")
  [:origin, :meta].each { |m| out(Point.method(m), "Point.#{m}") }
  [:rescue_it, :strings, :loop_it, :red].each { |m| out(method(m), "Object##{m}") }
end
r = 0
work = lambda do |n|
  n.times do |i|
    pt = Point.origin(i % 7)
    r += pt.norm + pt.to_h[:sum] + (pt.match("q") || 0) + pt.opt(1) + pt.opt(1, 2, 3, k: 4) + pt.opt(3) { |q| q }
    pt.both
    r += pt.dm(1) + Point.meta([1, 2, i]) + pt.mixed(10) + rescue_it(i) + loop_it(20) + red(i)
    r += 1 if pt < Point.new(3, 3)
    strings(i % 10)
  end
end
work.call(100)
dump_all
$stdout.puts r
def red(n) n + 2 end          # discards what called it
work.call(100)
GC.start
GC.compact rescue 0
GC.verify_compaction_references(double_heap: true, toward: :empty) rescue 0
GC.auto_compact = true
work.call(60)
GC.auto_compact = false
$stdout.puts r
dump_all
c = 0
TracePoint.new(:call) { c += 1 }.enable { work.call(3) }   # discards everything
$stdout.puts c
work.call(100)
class Integer; alias old_plus +; def +(o) old_plus(o) end end if ARGV[0] == "bop"
Point.class_eval { def norm; 5 end }
Const = 5
def konst; Const + 1 end
100.times { konst }
Object.send(:remove_const, :Const); Const = 7
100.times { r += konst }
work.call(50)
t = 4.times.map { |k| Thread.new { 200.times { |i| Point.origin(i).to_h; loop_it(30) }; k } }
$stdout.puts t.map(&:value).inspect
f = Fiber.new { 50.times { |i| Fiber.yield Point.origin(i).norm }; :end }
v = nil
51.times { v = f.resume }
$stdout.puts v.inspect
e = Enumerator.new { |y| 100.times { |i| y << loop_it(i) } }
$stdout.puts e.next + e.next + e.next
pid = fork { work.call(50); def inchild(n) n * 3 end; 100.times { |i| inchild(i) }; $stdout.puts "child #{r}"; exit!(0) }
Process.wait(pid)
$stdout.puts $?.exitstatus
eval("def ev(n) n + 9 end; 50.times { |i| ev(i) }")
o = Object.new
def o.single(n) n + 4 end
50.times { |i| r += o.single(i) }
anon = Class.new { def an(n) n + 6 end }
50.times { |i| r += anon.new.an(i) }
if ARGV[0] == "ractor"
  $VERBOSE = nil
  rs = 2.times.map { |k| Ractor.new(k) { |q| 300.times { |i| Point.origin(i + q).to_h; Point.meta([q]) }; Point.origin(q).to_h } }
  $stdout.puts rs.map(&:take).inspect
end
$stdout.puts r, $!.inspect
dump_all
