# A server of tools over pipes for places where there is nothing but a shell. It tells what it sees.
# $1: "": does as it should; dies: ends at a call; late: begins when there is a file `go`.
[ "$1" = late ] && while [ ! -e go ]; do sleep 0.05; done
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case $line in
    *'"method":"initialize"'*)
      say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}'
      ;;
    *'"method":"tools/list"'*)
      echo listed >> listed
      say '"result":{"tools":[{"name":"look","description":"Looks around.","inputSchema":{"type":"object"}}]}'
      ;;
    *'"method":"tools/call"'*)
      [ "$1" = dies ] && exit 3
      say "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$$ $PWD $GREETING $LD_PRELOAD $(ls / | tr '\n' ' ')\"}]}"
      ;;
    *'"id":'*) say '"error":{"code":-32601,"message":"no such method"}' ;;
  esac
done
