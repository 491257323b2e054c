-- The client that Neovim brings along, without a plugin: an edit that is accepted, one
-- that is refused, and one through assent/review, in a real child Neovim with a buffer
-- that has a line not saved. Answers are typed, as a person does.
--
--	nvim --headless -u NONE -l neovim.lua ASSENT DIR
--
-- DIR is an empty directory. Any failure ends with exit code 1.
local assent, dir = arg[1], vim.uv.fs_realpath(arg[2])
local file = dir .. '/ws/notes.txt'
local on_disk = 'helo world\n'

local function write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local f = assert(io.open(path, 'w'))
  f:write(text)
  f:close()
end

local function read(path)
  local f = assert(io.open(path))
  local text = f:read('a')
  f:close()
  return text
end

local function equal(got, want, what)
  assert(vim.deep_equal(got, want), ('%s: %s, want %s'):format(what, vim.inspect(got), vim.inspect(want)))
end

local function edit(from, to)
  local use = { id = 'c-' .. to, name = 'edit_file', input = { path = 'notes.txt', edits = { { old_string = from, new_string = to } } } }
  return vim.json.encode({ text = 'I change it.', toolUses = { use } }) .. '\n' .. vim.json.encode({ text = 'Done.' }) .. '\n'
end

write(file, on_disk)
write(dir .. '/replies.jsonl', edit('helo', 'hello') .. edit('hello', 'HELLO') .. edit('hello', 'howdy'))

local child = vim.fn.jobstart({ vim.v.progpath, '--embed', '--headless', '-u', 'NONE', '-i', 'NONE', '-n' }, {
  rpc = true,
  env = { XDG_STATE_HOME = dir, ASSENT_PROVIDER = 'replay', ASSENT_MODEL = dir .. '/replies.jsonl' },
})
local function lua(code, ...) return vim.rpcrequest(child, 'nvim_exec_lua', code, { ... }) end
local function wait(what, ready)
  assert(vim.wait(20000, ready, 10), 'waited for ' .. what .. ' in vain')
end
local function asking() return vim.rpcrequest(child, 'nvim_get_mode').blocking end
local function lines() return lua('return vim.api.nvim_buf_get_lines(0, 0, -1, true)') end

-- start attaches a client; review says whether it offers assent/review.
local function start(review)
  lua([[
    local assent, file, dir, review = ...
    if vim.api.nvim_buf_get_name(0) ~= file then vim.cmd.edit(file) end
    local capabilities = vim.lsp.protocol.make_client_capabilities()
    if review then capabilities.experimental = { assent = { version = 1, review = true } } end
    Events, Reviews = {}, {}
    Client = vim.lsp.get_client_by_id(assert(vim.lsp.start({
      name = 'assent', cmd = { assent, '--stdio' }, root_dir = dir, capabilities = capabilities,
      handlers = {
        ['assent/event'] = function(_, params) table.insert(Events, params.event) end,
        ['assent/review'] = function(_, params)
          table.insert(Reviews, { lines = vim.api.nvim_buf_get_lines(0, 0, -1, true), files = params.files })
          return { revision = params.revision, decision = 'accept' }
        end,
      },
    })))
    vim.wait(5000, function() return Client.initialized end, 10)
  ]], assent, file, dir .. '/ws', review)
end

-- prompt sends a prompt, types the answer to the question that comes, if one is to
-- come, and returns the result.
local function prompt(answer)
  lua([[
    Answer = nil
    Client.request('assent/prompt', { text = 'change it' }, function(err, result) Answer = { err = err, result = result } end, 0)
  ]])
  if answer then
    wait('the question', asking)
    equal(read(file), on_disk, 'the disk while the question is open')
    vim.rpcnotify(child, 'nvim_input', answer .. '<CR>')
  end
  wait('the answer to the prompt', function() return not asking() and lua('return Answer ~= nil') end)
  local got = lua('return Answer')
  assert(got.result, vim.inspect(got))
  return got.result
end

start(false)
lua([[vim.api.nvim_buf_set_lines(0, 1, 1, true, { 'not saved' })]])

local result = prompt('1')
equal({ result.stopReason, result.denied }, { 'complete', 0 }, 'the accepted edit')
equal(lines(), { 'hello world', 'not saved' }, 'the buffer after an accepted edit')
equal(read(file), on_disk, 'the disk after an accepted edit')
equal(lua('return vim.bo.modified'), true, 'modified')
equal(lua([[for _, e in ipairs(Events) do if e.type == 'landed' then return { e.files[1].status, e.files[1].where } end end]]), { 'landed', 'buffer' }, 'what is said to have landed')
lua([[vim.cmd('silent undo')]])
equal(lines(), { 'helo world', 'not saved' }, 'the buffer after undo')
lua([[vim.cmd('silent redo')]])

result = prompt('2')
equal({ result.stopReason, result.denied }, { 'complete', 1 }, 'the refused edit')
equal(lines(), { 'hello world', 'not saved' }, 'the buffer after a refused edit')

local leave = [[
  local id = Client.id
  vim.lsp.stop_client(id)
  return vim.wait(5000, function() return vim.lsp.get_client_by_id(id) == nil end, 10)
]]
equal(lua(leave), true, 'the client has stopped')

write(dir .. '/replies.jsonl', edit('hello', 'howdy'))
start(true)
result = prompt()
equal({ result.stopReason, result.denied }, { 'complete', 0 }, 'the reviewed edit')
local reviews = lua('return Reviews')
equal(reviews[1].lines, { 'hello world', 'not saved' }, 'the buffer while the review was open')
equal(reviews[1].files[1].newText, 'howdy world\nnot saved\n', 'the proposal')
equal(lines(), { 'howdy world', 'not saved' }, 'the buffer after a reviewed edit')
equal(lua(leave), true, 'the client has stopped')

vim.fn.jobstop(child)
print(('Neovim %s: one edit accepted, one refused, one reviewed\n'):format(tostring(vim.version())))
